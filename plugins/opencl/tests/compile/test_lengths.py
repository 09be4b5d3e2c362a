"""Programs that serve many shapes: right for all of them, and few."""

import numpy as np
import pytest

import hetero
from hetero import Model, Parameter, Type, ops
from hetero.conformance.operations import OPERATIONS
from hetero.conformance.samples import assert_close, supports
from tests import zoo

CORE = hetero.Core()
# Two buckets, with other remainders and parities in each.
ROWS = (5, 9, 14, 7, 20, 33, 50, 61, 6, 17)
# Kernels of these have tables of indices, for one length each.
OF_ONE_LENGTH = {"Roll"}


def programs_of(request):
    """Return the number of programs that the model of a request has."""
    cache = request.bound_model._programs
    return len(cache._programs)


@pytest.mark.parametrize("operation", [each for each in OPERATIONS if each.batched], ids=lambda o: o.name)
def test_operations(device, plugin_request, operation):
    kind = operation.kinds[0]
    model = operation.model(kind, dynamic=True)
    if not supports(CORE, model, device):
        pytest.skip("the device refuses it, which the conformance kit checks")
    request = CORE.compile_model(model, device).create_infer_request()
    for rows in ROWS:
        arrays = operation.arrays(kind, rows)
        for found, wanted in zip(request.infer(arrays).to_tuple(), operation.expected(arrays), strict=True):
            assert_close(found, wanted)
    count = programs_of(plugin_request(request))
    assert count >= len(ROWS) if operation.name in OF_ONE_LENGTH else count <= 4


def test_a_network_of_any_width(device, plugin_request):
    model = CORE.read_model(zoo.path("ocr_recognition"))
    request = CORE.compile_model(model, device).create_infer_request()
    reference = CORE.compile_model(model, "TEMPLATE").create_infer_request()
    for width in (101, 64, 255, 130, 77):
        image = np.random.default_rng(width).standard_normal((1, 3, 48, width), np.float32)
        np.testing.assert_allclose(request.infer(image)[0], reference.infer(image)[0], atol=2e-5)
    assert programs_of(plugin_request(request)) <= 2  # that of the compilation is for wider ones


def test_lengths_as_contents(device):
    """Numbers that are computed from shapes are written by kernels where other kernels read them."""
    x = Parameter(Type.f32, [-1, -1])
    width = ops.Gather(ops.ShapeOf(x), np.int64(1), np.int64(0))
    places = ops.Convert(ops.Range(np.int64(0), width, np.int64(1), "i64"), "f32")
    scaled = ops.Divide(ops.Add(x, places), ops.Convert(width, "f32"))
    compiled = CORE.compile_model(Model([scaled], [x]), device)
    for columns in (5, 9, 20, 33, 100):
        array = np.random.default_rng(columns).random((3, columns), np.float32)
        wanted = (array + np.arange(columns, dtype=np.float32)) / np.float32(columns)
        np.testing.assert_allclose(compiled(array)[0], wanted, rtol=1e-6)


def test_inputs_of_one_length():
    """Dimensions of one name are one symbol, unless a request gives them other lengths."""
    x, y = (Parameter(Type.f32, [-1, 4]) for _ in range(2))
    compiled = CORE.compile_model(Model([ops.Add(x, y)], [x, y]), "GPU")
    for a, b in ((5, 5), (7, 7), (9, 1), (1, 9)):
        first, second = np.ones((a, 4), np.float32), np.ones((b, 4), np.float32)
        np.testing.assert_array_equal(compiled([first, second])[0], first + second)
