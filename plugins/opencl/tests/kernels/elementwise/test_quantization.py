"""Quantized networks run in the kernels of f32, with rounding and clamping in their epilogues."""

import numpy as np
import pytest

import hetero
from hetero import Parameter, Type, ops
from hetero.graph import execution

GENERATOR = np.random.default_rng(5)
# Powers of two, so that nothing is rounded but by the Round of the definition.
SCALE, STEP = np.float32(0.5), np.float32(0.25)


def kernels_of(compiled: hetero.CompiledModel) -> list[str]:
    """Return the kernels that run, after an inference."""
    nodes = [node for node in compiled.get_runtime_model().get_ordered_ops() if type(node) is execution.ExecutionNode]
    found = [str(node.rt_info.get(execution.IMPLEMENTATION)) for node in nodes]
    return [name for name in found if name not in ("unknown", "none")]


@pytest.mark.parametrize("kind", [Type.u8, Type.i8, Type.u16, Type.i16])
@pytest.mark.parametrize("is_clamped", [True, False])
def test_small_integers_between_floats_stay_in_the_kernel(device, kind, is_clamped):
    """Numbers of f32 that become small integers and f32 again; without Clamp they wrap around."""
    x = Parameter(Type.f32, [1, 32, 5, 7])
    weights = GENERATOR.integers(-2, 3, (32, 32, 1, 1)).astype(np.float32)
    limits = np.iinfo(kind.to_dtype())
    value = ops.Round(ops.Divide(ops.Convolution(x, weights, [1, 1], [0, 0], [0, 0], [1, 1]), SCALE), "half_to_even")
    if is_clamped:
        value = ops.Clamp(value, float(limits.min), float(limits.max))
    integers = ops.Convert(value, kind)
    result = ops.Multiply(ops.Subtract(ops.Convert(integers, "f32"), np.float32(3)), SCALE)
    compiled = hetero.Core().compile_model(hetero.Model([result], [x]), device)
    data = GENERATOR.integers(-9000, 9000, (1, 32, 5, 7)).astype(np.float32) / 8
    found = compiled([data])[0]
    sums = np.rint(np.einsum("oc,nchw->nohw", weights[:, :, 0, 0].astype(np.float64), data) / SCALE)
    numbers = np.clip(sums, limits.min, limits.max) if is_clamped else sums
    expected = (numbers.astype(np.int64).astype(kind.to_dtype()).astype(np.float32) - 3) * SCALE
    np.testing.assert_array_equal(found, expected, strict=True)
    assert len(kernels_of(compiled)) == 1


@pytest.mark.parametrize("shape", [(1, 32, 4, 9), (3, 40)])
def test_fake_quantize_in_vectors(template_agrees, shape):
    """Also of numbers on the limits, beyond them, and NaN."""
    x = Parameter(Type.f32, shape)
    limits = [np.float32(limit) for limit in (-1.5, 2.25, -1.5, 2.25)]
    data = GENERATOR.uniform(-3, 4, shape).astype(np.float32)
    data.flat[:6] = [-1.5, 2.25, np.nan, np.inf, -np.inf, 0]
    template_agrees(ops.FakeQuantize(x, *limits, 256), [x], [data])
