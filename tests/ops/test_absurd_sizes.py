"""Sizes that are far too large, negative or not finite are rejected with a message before memory or time is spent."""

import numpy as np
import pytest

import hetero
from hetero import Model, Parameter, Type, ops
from hetero.graph import Constant
from hetero.system import allocation
from hetero.system.errors import DeviceError, GraphError, HeteroError, TensorError
from tests.devices import GPUS

CORE = hetero.Core()
F32, I64 = np.float32, np.int64
IMAGE = np.ones([1, 1, 4, 4], F32)
# Number of elements of 256 MiB in f32: twice the memory that the tests make available.
MANY = 1 << 26
AVAILABLE = 1 << 27


@pytest.fixture
def little_memory(monkeypatch):
    monkeypatch.setattr(allocation, "available_memory", lambda: AVAILABLE)


def run(make, device, known, array=IMAGE):
    """Run ``make(data, sized)``, where ``sized(array)`` is a Constant if ``known``, else a Parameter."""
    data = Parameter(Type(array.dtype), list(array.shape))
    parameters, arrays = [data], [array]

    def sized(numbers):
        numbers = np.asarray(numbers)
        if known:
            return Constant(numbers)
        parameters.append(Parameter(Type(numbers.dtype), list(numbers.shape)))
        arrays.append(numbers)
        return parameters[-1]

    request = CORE.compile_model(Model([make(data, sized)], parameters), device).create_infer_request()
    request.start_async(arrays)
    assert request.wait_for(20_000)
    return request.get_output_tensor().data


def resize(x, target, **settings):
    return ops.Resize(x, target, axes=[2, 3], mode="linear", coordinate_transformation_mode="half_pixel", **settings)


TOO_LARGE = {
    "Tile": lambda x, s: ops.Tile(x, s(I64([1, 1, 1, MANY // 16]))),
    "Pad": lambda x, s: ops.Pad(x, s(I64([0, 0, 0, 0])), s(I64([0, 0, 0, MANY // 4 - 4])), "constant"),
    "Broadcast": lambda x, s: ops.Broadcast(x, s(I64([MANY // 16, 1, 4, 4]))),
    "Range": lambda x, s: ops.Range(s(F32(0)), s(F32(MANY)), s(F32(1)), "f32"),
    "OneHot": lambda x, s: ops.OneHot(ops.Convert(x, "i64"), s(I64(MANY // 16)), F32(1), F32(0), axis=-1),
    "Eye": lambda x, s: ops.Eye(s(I64(1 << 13)), s(I64(1 << 13)), s(I64(0)), output_type="f32"),
    "RandomUniform": lambda x, s: ops.RandomUniform(s(I64([MANY])), F32(0), F32(1), "f32", 1, 1),
    "Interpolate": lambda x, s: ops.Interpolate(x, s(I64([1, 1, 1 << 13, 1 << 13])), "nearest", "sizes"),
    "Resize": lambda x, s: resize(x, s(I64([1 << 13, 1 << 13])), shape_calculation_mode="sizes"),
}


@pytest.mark.parametrize("known", [True, False], ids=["known", "at run time"])
@pytest.mark.parametrize("name", TOO_LARGE)
def test_outputs_beyond_the_available_memory_are_refused(name, known, little_memory):
    problem = rf"{name} '{name}_\d+' cannot run on these inputs: its output f32\[.*\] takes 268,435,456 bytes, but only"
    with pytest.raises(DeviceError, match=problem):
        run(TOO_LARGE[name], "TEMPLATE", known)


def test_outer_products_beyond_the_available_memory_are_refused(little_memory):
    with pytest.raises(DeviceError, match=r"Add 'sum' .*f32\[8192,8192\] takes 268,435,456 bytes"):
        run(
            lambda x, s: ops.Add(s(np.ones((1 << 13, 1), F32)), s(np.ones(1 << 13, F32)), name="sum"), "TEMPLATE", False
        )


def test_tables_of_weights_beyond_the_available_memory_are_refused(little_memory):
    with pytest.raises(DeviceError, match=r"Interpolate .* the table of 4194304 coordinates takes 268,435,456 bytes"):
        run(lambda x, s: ops.Interpolate(x, s(I64([1, 1, 4, 1 << 22])), "linear", "sizes"), "TEMPLATE", True)


@pytest.mark.parametrize("make", [lambda: hetero.Tensor(Type.f32, [MANY]), lambda: hetero.Tensor(Type.f32, [2**40, 4])])
def test_tensors_beyond_the_available_memory_are_refused(make, little_memory):
    with pytest.raises(TensorError, match="a tensor of f32.* cannot be allocated.* bytes, but only 134,217,728"):
        make()
    tensor = hetero.Tensor(Type.f32, [1])
    with pytest.raises(TensorError, match="a tensor of f32.* cannot be allocated"):
        tensor.set_shape([MANY])


@pytest.mark.parametrize("device", GPUS)
def test_more_than_kernels_count_is_refused_before_it_is_computed(device):
    with pytest.raises(DeviceError, match="Interpolate 'i' needs 4000000000 elements at once"):
        run(lambda x, s: ops.Interpolate(x, s(I64([1, 1, 4, 10**9])), "linear", "sizes", name="i"), device, False)


NOT_SIZES = {
    "negative": lambda x, s: ops.Interpolate(x, s(I64([1, 1, 4, -3])), "linear", "sizes", name="r"),
    "negative scale": lambda x, s: ops.Interpolate(x, s(F32([1, 1, 1, -2])), "linear", "scales", name="r"),
    "not a number": lambda x, s: ops.Interpolate(x, s(F32([1, 1, 1, np.nan])), "linear", "scales", name="r"),
    "version 4": lambda x, s: ops.InterpolateV4(x, s(I64([1, 1, 4, -3])), F32([1] * 4), "nearest", "sizes", name="r"),
    "version 1": lambda x, s: ops.InterpolateV1(x, s(I64([-3])), {"axes": [3], "mode": "nearest"}, name="r"),
    "Resize": lambda x, s: resize(x, s(I64([4, -3])), shape_calculation_mode="sizes", name="r"),
    "Resize by scales": lambda x, s: resize(x, s(F32([1, np.inf])), shape_calculation_mode="scales", name="r"),
}


@pytest.mark.parametrize("known", [True, False], ids=["known", "at run time"])
@pytest.mark.parametrize("device", ["TEMPLATE", GPUS[0], f"HETERO:{GPUS[0]},TEMPLATE"])
@pytest.mark.parametrize("name", NOT_SIZES)
def test_sizes_that_are_none_are_refused_on_own_sample(name, device, known):
    kind = GraphError if known else DeviceError
    with pytest.raises(kind, match="'r': sizes and scales must be finite and not negative, but are"):
        run(NOT_SIZES[name], device, known)


# Visiting every element of these windows takes minutes. Only a few of them overlap data, the others only padding.
WIDE = 1 << 26
ROW = np.arange(8, dtype=F32).reshape(1, 1, 8)
PADS = [WIDE // 2], [WIDE // 2]
WINDOWS = {
    "MaxPool": (lambda x, s: ops.MaxPool(x, [1], [1], *PADS, [WIDE], index_element_type="i64").output(0), 7),
    "indices": (lambda x, s: ops.MaxPool(x, [1], [1], *PADS, [WIDE], index_element_type="i64").output(1), 7),
    "AvgPool": (lambda x, s: ops.AvgPool(x, [1], *PADS, [WIDE], True), 3.5),
    "with padding": (lambda x, s: ops.AvgPool(x, [1], *PADS, [WIDE], False), 28 / WIDE),
}


@pytest.mark.parametrize("device", ["TEMPLATE", GPUS[0]])
@pytest.mark.parametrize("name", WINDOWS)
def test_windows_far_larger_than_the_data_take_no_time(name, device):
    make, expected = WINDOWS[name]
    np.testing.assert_allclose(run(make, device, True, ROW), np.full([1, 1, 9], expected), rtol=1e-6)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ops.Split(Parameter(Type.f32, [-1]), I64(0), 1 << 40),
        lambda: ops.VariadicSplit(Parameter(Type.f32, [-1]), I64(0), Parameter(Type.i64, [1 << 40])),
        lambda: ops.StridedSlice(*[Parameter(Type.i64, [1 << 40]) for _ in range(4)], [0], [0]),
        lambda: ops.ROIAlign(*[Parameter(Type.f32, [-1] * n) for n in (4, 2)], I64([0]), 2, 2, 2**31 - 1, 1.0, "avg"),
    ],
    ids=["Split", "VariadicSplit", "StridedSlice", "ROIAlign"],
)
def test_counts_that_no_model_has_are_refused(make):
    with pytest.raises(HeteroError, match="up to 65536 are possible|must be at most 1024"):
        make()


def test_values_of_large_results_are_not_followed():
    table, long = Constant(np.zeros((1, 1024), I64)), np.zeros(1024, I64)
    for node in (
        ops.Gather(table, Constant(long), I64(0)),
        ops.Select(Constant(np.ones((1024, 1), bool)), Constant(long), I64(1)),
        ops.Add(Constant(long.reshape(-1, 1)), Constant(long)),
        ops.Less(Constant(long.reshape(-1, 1)), Constant(long)),
    ):
        assert node.output(0).shape == (1024, 1024) and node.output(0).value is None
