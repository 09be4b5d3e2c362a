"""Inputs whose contents are lengths, as parts of a cut model get them: programs are for classes of these too."""

import numpy as np
import pytest

from hetero import Core, Model, Parameter, Type, ops
from tests import zoo

CORE = Core()
X = np.random.default_rng(0).standard_normal((60, 4)).astype(np.float32)
DEVICES = ["GPU", "HETERO:ONEDNN,TEMPLATE"]
LENGTHS = (20, 50, 33, 18, 60, 9, 5, 20, 1)


def programs_of(compiled) -> list[str]:
    if "PLACEMENT_REPORT" not in compiled.get_property("SUPPORTED_PROPERTIES"):
        return compiled.get_property("MODEL_PROGRAMS")
    return max((each.programs for each in compiled.get_property("PLACEMENT_REPORT").subgraphs), key=len)


def reshaped(x, numbers):
    return ops.Reshape(x, numbers, True)


def sliced(x, numbers):
    return ops.Slice(x, np.array([0]), numbers, np.array([1]), np.array([0]))


def tiled(x, numbers):
    return ops.Tile(ops.ReduceMax(x, np.array([0]), True), numbers)


CASES = {
    # the operation, the numbers for a count of rows, what numpy gives, and the most programs for LENGTHS
    "Reshape": (reshaped, lambda n: [n, 2, 2], lambda x, n: x.reshape(n, 2, 2), 4),
    "Reshape to the rest": (reshaped, lambda n: [-1, 2 * n], lambda x, n: x.reshape(-1, 2 * n), 4),
    "Reshape of equal axes": (reshaped, lambda n: [0, 1, 4], lambda x, n: x.reshape(n, 1, 4), 4),
    "Slice": (sliced, lambda n: [n - 1], lambda x, n: x[: n - 1], 5),
    "Tile": (
        tiled,
        lambda n: [n, 3],
        lambda x, n: np.tile(x.max(0, keepdims=True), (n, 3)),
        11,
    ),  # kernels are for one number of copies
}


@pytest.mark.own_sample
@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("case", CASES)
def test_operations(case, device):
    build, numbers_of, compute, most = CASES[case]
    x, numbers = Parameter(Type.f32, [-1, 4], name="x"), Parameter(Type.i64, [len(numbers_of(4))], name="numbers")
    compiled = CORE.compile_model(Model([ops.Relu(build(x, numbers))], [x, numbers]), device)
    for count in LENGTHS:
        found = compiled([X[:count], np.array(numbers_of(count))])[0]
        np.testing.assert_allclose(found, np.maximum(compute(X[:count], count), 0), rtol=1e-6)
    assert len(programs_of(compiled)) <= most, programs_of(compiled)


@pytest.mark.own_sample
@pytest.mark.parametrize("device", DEVICES)
def test_other_numbers_are_no_lengths(device):
    """An axis has the number that it has."""
    x, axis = Parameter(Type.f32, [-1, -1, -1, -1], name="x"), Parameter(Type.i64, [1], name="axis")
    compiled = CORE.compile_model(Model([ops.ReduceSum(ops.Relu(x), axis, False)], [x, axis]), device)
    x = X.reshape(2, 3, 4, 10)
    for number in (0, 1, 2, 3, -1, -3, 2):
        np.testing.assert_allclose(compiled([x, np.array([number])])[0], np.maximum(x, 0).sum(number), rtol=1e-5)


def test_a_model_that_is_cut_anywhere_has_few_programs():
    """The recognition of text, whose target shapes cross the cuts."""
    model = CORE.read_model(zoo.path("ocr_recognition"))
    reference = CORE.compile_model(model, "TEMPLATE")
    nodes = [node for node in model.get_ordered_ops() if node.type_info.name not in ("Parameter", "Result", "Constant")]
    for index, node in enumerate(nodes):
        node.rt_info["affinity"] = ("GPU", "TEMPLATE")[index // 40 % 2]
    compiled = CORE.compile_model(model, "HETERO:GPU,TEMPLATE")
    for width in (80, 320, 96, 200, 104, 240, 160, 128):
        (inputs,) = zoo.inputs("ocr_recognition", 0, (1, 3, 48, width)).values()
        np.testing.assert_allclose(compiled(inputs)[0], reference(inputs)[0], atol=1e-4)
    assert len(programs_of(compiled)) <= 4, programs_of(compiled)
