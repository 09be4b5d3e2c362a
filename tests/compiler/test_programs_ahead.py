"""Programs of a cut model that are made ahead: for the shapes that values have where inputs have likely ones."""

import numpy as np
import pytest

from hetero import Core, Model, Parameter, PartialShape, Type, ops
from hetero.compiler.symbolic import shapes_ahead
from hetero.graph.rt_info import AFFINITY

CORE = Core()
RANDOM = np.random.default_rng(5)
DEVICES = ["GPU", "ONEDNN"]


def weights(*shape) -> np.ndarray:
    return (RANDOM.standard_normal(shape) / shape[-1]).astype(np.float32)


def compiled_on(device, model, on_device) -> object:
    """Compile with operations of these types on the device, and all others on TEMPLATE."""
    for node in model.get_ordered_ops():
        if node.type_info.name not in ("Parameter", "Result", "Constant"):
            node.rt_info[AFFINITY] = device if node.type_info.name in on_device else "TEMPLATE"
    return CORE.compile_model(model, f"HETERO:{device},TEMPLATE")


def programs_of(compiled) -> list[list[str]]:
    return [sorted(each.programs) for each in compiled.get_property("PLACEMENT_REPORT").subgraphs]


@pytest.mark.own_sample
@pytest.mark.parametrize("device", DEVICES)
def test_pictures_that_become_smaller_from_part_to_part(device):
    x = Parameter(Type.f32, PartialShape([1, 3, -1, -1]), name="x")
    value = x
    for channels in (3, 8, 8):
        convolution = ops.Convolution(value, weights(8, channels, 3, 3), [2, 2], [1, 1], [1, 1], [1, 1])
        value = ops.HardSigmoid(convolution, np.float32(0.2), np.float32(0.5))
    model = Model([value], [x])
    compiled = compiled_on(device, model, {"Convolution"})
    ahead = programs_of(compiled)
    assert sum(map(len, ahead)) == 3
    picture = RANDOM.standard_normal((1, 3, 512, 512)).astype(np.float32)
    expected = CORE.compile_model(model, "TEMPLATE")(picture)[0]
    np.testing.assert_allclose(compiled(picture)[0], expected, atol=1e-5)
    assert programs_of(compiled) == ahead


@pytest.mark.own_sample
@pytest.mark.parametrize("device", DEVICES)
def test_a_model_that_writes_word_by_word(device):
    """The first words, the second inference and those after it."""
    x = Parameter(Type.f32, PartialShape([1, -1, 16]), name="x")
    row = ops.MatMul(x, weights(16, 16), False, False)
    past = ops.ReadValue(np.zeros((1, 0, 16), np.float32), "past", "f32", PartialShape([1, -1, 16]))
    rows = ops.Concat([past, row], 1)
    weight = ops.Softmax(ops.MatMul(row, rows, False, True), 2)
    result = ops.MatMul(ops.MatMul(weight, rows, False, False), weights(16, 16), False, False)
    model = Model([result], [x], sinks=[ops.Assign(rows, "past")])
    compiled = compiled_on(device, model, {"MatMul"})
    ahead = programs_of(compiled)
    requests = [each.create_infer_request() for each in (compiled, CORE.compile_model(model, "TEMPLATE"))]
    for count in (32, 1, 1, 1):
        words = RANDOM.standard_normal((1, count, 16)).astype(np.float32)
        found, expected = (request.infer([words])[0] for request in requests)
        np.testing.assert_allclose(found, expected, atol=1e-5)
    assert programs_of(compiled) == ahead


def test_inputs_of_a_part_beside_its_states():
    """All are of as many items: what is known of an input is for one, and the states are those of later inferences."""
    words, state = (Parameter(Type.f32, PartialShape([-1, -1, 8]), name=name) for name in ("words", "state"))
    words.likely_shapes = (1, 128, 8), (1, 1, 8)
    model = Model([ops.Concat([state, words], 1)], [words, state])
    assert shapes_ahead(model, [1]) == [[(1, 1, 8), (1, 128, 8)]]
    assert shapes_ahead(model, [1], 4) == [[(4, 1, 8), (4, 128, 8)]]
    assert shapes_ahead(Model([ops.Relu(words)], [words])) == [[(1, 128, 8)], [(1, 1, 8)]]
