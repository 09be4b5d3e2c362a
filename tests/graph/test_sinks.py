"""Sinks: nodes of a model that run although no Result depends on them."""

import numpy as np

from hetero import Model, Parameter, Type, ops


def test_sinks_can_be_added():
    x = Parameter(Type.f32, [1])
    model = Model(ops.ReadValue(x, "v"), [x])
    assert not model.sinks
    sink = ops.Assign(x, "v")
    model.add_sinks([sink, sink])
    assert model.sinks == model.get_sinks() == [sink]
    assert model.get_ordered_ops()[-1] is sink


def test_sinks_come_second_or_by_name():
    x = Parameter(Type.f32, [1])
    sink = ops.Assign(ops.Relu(x, name="relu"), "v")
    for model in (Model([x], [sink], [x], "mine"), Model([x], [x], "mine", sinks=[sink])):
        assert (model.friendly_name, model.sinks, model.parameters) == ("mine", [sink], [x])
        assert "relu" in [node.friendly_name for node in model.get_ops()]
        clone = model.clone()
        assert clone.sinks[0] is not sink and clone.sinks[0] in clone.get_ops()


def test_shapes_of_sinks_are_inferred():
    x = Parameter(Type.f32, [-1])
    sink = ops.Assign(ops.Add(x, np.float32(1)), "v")
    model = Model(x, [x], sinks=[sink])
    model.reshape([5])
    assert str(sink.output(0).partial_shape) == "[5]"
