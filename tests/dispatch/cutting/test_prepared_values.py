"""The values of a prepared model: each original value that is still computed has its contents there.

Parts are cut out at these values. Expected are the contents in the original model.
"""

import numpy as np
import pytest
from hypothesis import given, settings

from hetero import Core, Model, Parameter, Type, ops
from hetero.core.tensor import Tensor
from hetero.dispatch.cutting.parts import PreparedParts
from hetero.graph import Result, is_terminal
from hetero.passes import sink_transposes
from tests import zoo
from tests.devices import GPUS, PickyPlugin, core_with
from tests.dispatch.random_graphs import KINDS, inputs_of, placed_graphs, sequence, texts

DEVICES = ("TEMPLATE", GPUS[0], "ONEDNN")
# Values that a fusion rounds otherwise differ by this share of their norm. Logarithms and positions of maxima enlarge
# the rounding of f16; contents of another value, or in another order, differ by their whole norm.
TOLERANCES = {"f16": 0.3, "f32": 1e-4}
NETWORKS = ("squeezenet", "ocr_recognition", "magika", "face_detection", "basic_pitch")


def prepared_by(core, device, model, **options):
    return core.resolve_device(device)[0].query_model(model, options).prepared


def pairs(model, prepared):
    """Return the values of operations and, in the prepared model, those with the same contents."""
    parts = PreparedParts(prepared, None)
    values = [value for node in model.get_ordered_ops() if not is_terminal(node) for value in node.outputs()]
    return [(value, current) for value in values if (current := parts.current(value))]


def contents(values, parameters, sinks, inputs):
    """Return the contents of values by the reference."""
    model = Model([Result(value) for value in values], parameters, sinks=sinks)
    outputs = [Tensor(value.element_type, []) for value in values]
    assert model.evaluate(outputs, [Tensor(array) for array in inputs])
    return [output.data for output in outputs]


def check(model, prepared, inputs, tolerance):
    found = pairs(model, prepared)
    expected = contents([value for value, _ in found], model.parameters, model.sinks, inputs)
    actual = contents([value for _, value in found], prepared.model.parameters, prepared.model.sinks, inputs)
    for (value, _), one, other in zip(found, expected, actual, strict=True):
        if one.dtype.kind != "f" and tolerance < 0.1:
            np.testing.assert_array_equal(other, one, err_msg=value.node.friendly_name)
        else:
            one, other = (array.astype(np.float64)[np.isfinite(one)] for array in (one, other))
            norm = np.linalg.norm(one) + 1e-3
            assert np.linalg.norm(other - one) <= tolerance * norm, value.node.friendly_name
    return found


@pytest.mark.parametrize("device", DEVICES)
@settings(max_examples=60)
@given(placed_graphs(kinds=[kind for kind in KINDS if kind not in (sequence, texts)]))
def test_values_of_random_graphs(device, model):
    check(model, prepared_by(Core(), device, model), inputs_of(model, 2, 0), TOLERANCES["f32"])


@pytest.mark.parametrize(("device", "precision"), [(device, "f32") for device in DEVICES] + [(GPUS[0], "f16")])
@pytest.mark.parametrize("name", NETWORKS)
def test_values_of_networks(name, device, precision):
    core = Core()
    model = core.read_model(zoo.path(name))
    options = {"INFERENCE_PRECISION_HINT": precision} if device == GPUS[0] else {}
    arrays = zoo.inputs(name, 0, zoo.MODELS[name].shapes[0])
    inputs = [arrays[port.any_name] for port in model.inputs]
    model.reshape({port: array.shape for port, array in zip(model.inputs, inputs)})
    found = check(model, prepared_by(core, device, model, **options), inputs, TOLERANCES[precision])
    operations = sum(not is_terminal(node) for node in model.get_ordered_ops())
    # In f32 most values are still there; in f16 those that operations of f32 read.
    assert len(found) > (operations / 4 if precision == "f32" else 0)


def test_of_a_pass_that_changes_operations_in_place_no_value_is_taken_for_the_original_one():
    """sink_transposes changes the order of dimensions of what operations have."""
    x = Parameter(Type.f32, [1, 3, 4, 4], name="x")
    relu = ops.Relu(ops.Transpose(x, np.int64([0, 1, 3, 2])), name="relu")
    model = Model([ops.Transpose(ops.Exp(relu, name="exp"), np.int64([0, 1, 3, 2]))], [x])

    class Sinking(PickyPlugin):
        passes = (sink_transposes,)

    prepared = prepared_by(core_with(A=Sinking()), "A", model)
    assert not any(isinstance(node, ops.Transpose) for node in prepared.model.get_ordered_ops())
    assert pairs(model, prepared) == []
