"""Products with compressed weights: right for each form of integers, on processors and GPUs, compressed in memory."""

from dataclasses import replace

import numpy as np
import pytest
from hetero_opencl.device.device import present_devices
from hetero_opencl.lowering.program import model_memory

from hetero import Constant, Core, Model, Parameter, Type, ops
from hetero.core.compressed import PackedArray
from hetero.core.packing import pack
from tests.devices import GPU_LIMITS

CORE = Core()
KINDS = {"u2": (0, 4), "i2": (-2, 2), "u4": (0, 16), "i4": (-8, 8), "u8": (0, 256), "i8": (-128, 128)}
FAMILIES = {"processor": {}, "AVX2": {"vector_width": 8, "vector_registers": 16}, "GPU": GPU_LIMITS}


@pytest.fixture(params=FAMILIES)
def family(request, monkeypatch, processor):
    for one in present_devices().usable:
        monkeypatch.setattr(one, "profile", replace(one.profile, **FAMILIES[request.param]))
    return request.param


@pytest.fixture(autouse=True)
def only_measured_profiles(request):
    if request.node.callspec.params["processor"]:
        pytest.skip("these tests choose profiles themselves")


class Weights:
    """Weights ``[outputs, inputs]`` of integers in blocks with scales, and the numbers that they stand for."""

    def __init__(self, kind, outputs, inputs, block, zero_points="many", scales=np.float16):
        draw = np.random.default_rng(outputs)
        self.kind, self.zero_points, (low, high) = Type(kind), zero_points, KINDS[kind]
        shape = (outputs, inputs // block, block)
        codes = draw.integers(low, high, shape)
        points = draw.integers(low, high, (1,) * 3 if zero_points == "one" else (*shape[:2], 1))
        self.scale = draw.uniform(0.5, 2, (*shape[:2], 1)).astype(scales)
        self.codes, self.points = (array.astype(self.kind.to_dtype()) for array in (codes, points))
        self.numbers = (codes - (points if zero_points else 0)) * self.scale.astype(np.float64)
        self.numbers = self.numbers.reshape(outputs, inputs)

    def value(self, element_type):
        """Return them as an IR has them: converted, less the zero point, multiplied, and with the blocks joined."""
        codes = self.codes
        if self.kind.bitwidth < 8:
            codes = PackedArray(pack(codes, self.kind), self.kind, codes.shape)
        value = ops.Convert(Constant(codes), self.scale_type)
        if self.zero_points:
            value = ops.Subtract(value, ops.Convert(Constant(self.points), self.scale_type))
        value = ops.Reshape(ops.Multiply(value, Constant(self.scale)), np.array(self.numbers.shape), False)
        return ops.Convert(value, element_type)

    @property
    def scale_type(self):
        return Type(self.scale.dtype)

    @property
    def byte_size(self):
        points = self.points.size * self.kind.bitwidth // 8 if self.zero_points else 0
        return self.codes.size * self.kind.bitwidth // 8 + self.scale.nbytes + points


def check(weights, device, rows, element_type=Type.f32, epilogue=lambda y: y, expected=lambda y: y, tolerance=1e-5):
    inputs = weights.numbers.shape[1]
    x = Parameter(element_type, [-1, inputs])
    model = Model([epilogue(ops.MatMul(x, weights.value(element_type), False, True))], [x])
    compiled = CORE.compile_model(model, device)
    for count in rows:
        array = np.random.default_rng(count).standard_normal((count, inputs)).astype(element_type.to_dtype())
        (found,) = compiled(array).values()
        wanted = expected(array.astype(np.float64) @ weights.numbers.T)
        np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=0, atol=tolerance * np.abs(wanted).max())
    return compiled


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("zero_points", ["", "one", "many"])
def test_integers(device, family, kind, zero_points):
    check(Weights(kind, 100, 256, 64, zero_points), device, (1, 2, 3, 9))


@pytest.mark.parametrize(
    ("outputs", "inputs", "block"), [(1, 1024, 32), (16, 96, 96), (64, 1024, 1024), (65, 576, 192), (300, 160, 32)]
)
def test_sizes(device, family, outputs, inputs, block):
    check(Weights("u4", outputs, inputs, block), device, (1, 5, 33))


@pytest.mark.parametrize(("element_type", "tolerance"), [(Type.f16, 1e-3), (Type.bf16, 8e-3)])
def test_types_of_activations(device, family, element_type, tolerance):
    check(Weights("i4", 48, 128, 32, scales=np.float32), device, (1, 4), element_type, tolerance=tolerance)


def test_epilogues(device, family):
    bias = np.linspace(-9, 9, 50, dtype=np.float32)
    check(
        Weights("u4", 50, 128, 32), device, (1, 6),
        epilogue=lambda y: ops.Relu(ops.Add(y, bias)), expected=lambda y: np.maximum(y + bias, 0),
    )  # fmt: skip


def test_blocks_that_are_not_whole_words(device, family):
    """They are computed with decoded weights."""
    check(Weights("u4", 24, 60, 12), device, (1, 4))


def test_weights_stay_compressed(device, family):
    weights = Weights("u4", 512, 1024, 128)
    compiled = check(weights, device, (1, 7))
    # The zero points take a byte each on the device.
    held = compiled.get_property(model_memory)["weights"]
    assert weights.byte_size <= held <= 1.05 * weights.byte_size, "one copy, for all numbers of rows"


def test_exported_models_keep_them(device):
    weights = Weights("u4", 512, 512, 64)
    compiled = check(weights, device, (2,))
    content = compiled.export_model()
    assert len(content.getbuffer()) < 1.5 * weights.byte_size + (1 << 19), "besides the kernels"
    array = np.random.default_rng(2).standard_normal((2, 512)).astype(np.float32)
    (found,) = CORE.import_model(content, device)(array).values()
    np.testing.assert_allclose(found, array @ weights.numbers.T, rtol=1e-4, atol=1e-3)
