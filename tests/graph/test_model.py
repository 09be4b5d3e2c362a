"""Model: ports, topological order, copies and shapes."""

import numpy as np
import pytest

from hetero import Model, Op, Parameter, PartialShape, Type, ops
from hetero.graph import Attribute, Constant, topological_order
from hetero.system.errors import GraphError


def small() -> Model:
    """Return a model of relu(x @ w) and its sum over the columns, for x of shape [?, 4]."""
    x = Parameter(Type.f32, [-1, 4], name="x")
    x.output(0).names = {"x", "input"}
    product = ops.MatMul(x, Constant(np.ones([4, 3], np.float32), name="w"), False, False, name="product")
    relu = ops.Relu(product, name="relu")
    relu.output(0).names = {"y"}
    return Model([relu, ops.ReduceSum(relu, np.int64([1]), name="sum")], [x], "small")


def test_ports_by_index_name_and_themselves():
    model = small()
    assert model.input() is model.input(0) is model.input("x") is model.input("input") is model.inputs[0]
    assert model.output("y") is model.output(0) is model.output(model.outputs[0])
    assert model.output(-1).partial_shape == PartialShape([-1])
    assert model.input().get_any_name() == "input"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m: m.input("z"), "model 'small' has no input z: it has input"),
        (lambda m: m.input(1), "has no input 1"),
        (lambda m: m.output(), "has no output by default: it has 2, choose one by index or name"),
        (lambda m: m.add_outputs("nowhere"), "has no tensor named nowhere"),
    ],
)
def test_errors_for_unknown_ports(ask, message):
    with pytest.raises(GraphError, match=message):
        ask(small())


def test_order_puts_sources_first():
    order = small().get_ordered_ops()
    place = {node: index for index, node in enumerate(order)}
    assert all(place[value.node] < place[node] for node in order for value in node.input_values())
    assert [n.type_info.name for n in order].count("MatMul") == 1 and len(order) == 8


def test_a_long_chain_is_walked_without_recursion():
    parameter = Parameter(Type.f32, [1])
    value = parameter.output(0)
    for _ in range(20_000):
        value = ops.Relu(value).output(0)
    model = Model(value, [parameter])
    assert len(model.get_ordered_ops()) == 20_002
    assert len(model.clone().get_ordered_ops()) == 20_002


def test_a_cycle_is_an_error():
    x = Parameter(Type.f32, [1])
    first = ops.Relu(x, name="first")
    second = ops.Exp(first, name="second")
    first.input(0).replace_source_output(second.output(0))
    with pytest.raises(GraphError, match="the graph has a cycle through '(first|second)'"):
        topological_order([second])


def test_a_parameter_must_be_listed():
    x = Parameter(Type.f32, [1], name="x")
    with pytest.raises(GraphError, match="model 'Model' reads Parameter 'x', which is not in its list"):
        Model(ops.Relu(x), [])


def test_reshape_infers_all_shapes():
    model = small()
    model.reshape([7, 4])
    assert not model.is_dynamic() and model.output("y").shape == (7, 3)
    model.reshape({"x": "[2..5,4]"})
    assert str(model.output(1).partial_shape) == "[2..5]"


def test_a_failed_reshape_leaves_the_model_unchanged():
    model = small()
    with pytest.raises(GraphError, match="MatMul 'product': shapes .* cannot be multiplied"):
        model.reshape([7, 5])
    assert str(model.input().partial_shape) == "[?,4]" and str(model.output("y").partial_shape) == "[?,3]"


def test_a_clone_shares_only_arrays():
    model = small()
    model.get_ordered_ops()[0].rt_info["note"] = 1
    clone = model.clone()
    pairs = list(zip(model.get_ordered_ops(), clone.get_ordered_ops(), strict=True))
    assert all(a is not b and a.friendly_name == b.friendly_name and a.rt_info == b.rt_info for a, b in pairs)
    constants = [(a, b) for a, b in pairs if isinstance(a, Constant)]
    assert constants and all(np.shares_memory(a.data, b.data) for a, b in constants)
    clone.reshape([1, 4])
    clone.output(0).add_names({"mine"})
    assert model.is_dynamic() and "mine" not in model.output(0).names


def test_outputs_can_be_added():
    model = small()
    (added,) = model.add_outputs(model.output("y").node.input_value(0).node.input_value(0))
    assert len(model.outputs) == 3 and str(added.partial_shape) == "[?,3]"


def test_networkx_has_an_edge_for_every_input():
    graph = small().to_networkx()
    assert graph.number_of_nodes() == 8
    assert sorted(data["input"] for _, _, data in graph.edges(data=True)) == [0, 0, 0, 0, 0, 1, 1]


def test_replacing_an_output_moves_its_readers_and_names():
    model = small()
    relu = model.output("y").node.input_value(0).node
    tanh = ops.Tanh(relu.input_value(0), name="tanh")
    relu.output(0).replace(tanh.output(0))
    names = [node.friendly_name for node in model.get_ordered_ops()]
    assert "relu" not in names and "tanh" in names and tanh.output(0).names == {"y"}


class Scale(Op):
    """A user-defined operation: x times a number."""

    inputs = ("x", "shift?")
    factor = Attribute(float)
    note = Attribute(str, "none")

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


def test_a_user_defined_operation():
    x = Parameter(Type.f32, [2], name="x")
    node = Scale(x, factor=3, name="scale")
    assert node.get_attributes() == {"factor": 3.0, "note": "none"} and node.factor == 3.0
    assert node.get_type_info() == ("Scale", "extension") and not node.has_input("shift")
    clone = Model(node, [x]).clone().get_ordered_ops()[1]
    assert isinstance(clone, Scale) and clone.factor == 3.0 and clone.friendly_name == "scale"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x: Scale(x), "Scale: missing a required argument: 'factor'"),
        (lambda x: Scale(x, factor="much"), "Scale: attribute factor cannot be 'much', it takes float"),
        (lambda x: Scale(x, factor=1, color=2), "Scale: got an unexpected keyword argument 'color'"),
        (lambda x: Scale(object(), factor=1), "Scale: .* cannot be an input: give a node, an output, an array"),
    ],
)
def test_errors_of_constructors(make, message):
    with pytest.raises(GraphError, match=message):
        make(Parameter(Type.f32, [2]))
