"""Quantized and hybrid convolutions and matrix multiplications: their weights, scales and comparison with LiteRT."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from tests.frontend.tflite.agreement import CORE, assert_as_litert
from tests.frontend.tflite.graphs import ElementType, Shape, Tensor, constant, feed, out
from tests.frontend.tflite.litert import LiteRT, assert_close
from tests.frontend.tflite.models import LiteModel

_SCALE_OF_WEIGHTS = 0.007


class QuantizedLayer:
    """Quantized tensors of a layer: data, weights, bias and result, with a scale at which few results saturate.

    ``count``: the number of products per sum. ``axis``: the axis of the weights with per-channel scales, or None.
    """

    def __init__(
        self,
        data: Shape,
        weights: Shape,
        count: int,
        axis: int | None = 0,
        dtype: ElementType = np.int8,
        weights_dtype: ElementType = np.int8,
        zero_points: tuple[int, int, int] = (3, 0, -5),
        bias_dtype: ElementType = np.int32,
        channels: int | None = None,
    ) -> None:
        generator = np.random.default_rng(0)
        scale, largest = (0.0003, 1 << 15) if dtype is np.int16 else (0.03, 1 << 7)
        scales = np.float32([_SCALE_OF_WEIGHTS])
        if axis is not None:
            scales = generator.uniform(0.5, 1.5, weights[axis]).astype(np.float32) * _SCALE_OF_WEIGHTS
        values = integers(generator, weights, weights_dtype)
        # Data and weights are distributed uniformly.
        deviation = np.sqrt(count / 3) * largest * np.std(values.astype(np.float32)) * scale * _SCALE_OF_WEIGHTS
        self.data = feed(data, dtype, scale=scale, zero_point=zero_points[0])
        self.weights = constant(values, scale=scales.tolist(), axis=axis or 0, zero_point=zero_points[1])
        channels = weights[axis or 0] if channels is None else channels
        bias = generator.integers(-2000, 2000, channels).astype(bias_dtype)
        self.bias = constant(bias, scale=(scale * scales).tolist())
        self.result = out(dtype, scale=float(3 * deviation / largest), zero_point=zero_points[2])


def integers(generator: np.random.Generator, shape: Shape, dtype: ElementType) -> np.ndarray:
    """Return random integers, without the lowest signed one, which LiteRT's kernels do not support for weights."""
    limits = ml_dtypes.iinfo(dtype)
    low, high = max(int(limits.min), -int(limits.max)), int(limits.max)
    return generator.integers(low, high, shape, endpoint=True).astype(dtype)


def random(*shape: int) -> Tensor:
    """Return a constant of normally distributed numbers."""
    return constant(np.random.default_rng(1).standard_normal(shape).astype(np.float32))


def of_weights(shape: Shape, axis: int | None, dtype: ElementType = np.int8) -> tuple[Tensor, Tensor]:
    """Return the same weights as quantized integers and as f32."""
    generator = np.random.default_rng(0)
    values = integers(generator, shape, dtype)
    scales = np.float32([0.01]) if axis is None else generator.uniform(0.005, 0.02, shape[axis]).astype(np.float32)
    spread = scales if axis is None else np.expand_dims(scales, tuple(i for i in range(len(shape)) if i != axis))
    return constant(values, scale=scales.tolist(), axis=axis or 0), constant(values.astype(np.float32) * spread)


def assert_as_with_floats(dynamic: LiteModel, floats: LiteModel, device: str = "TEMPLATE") -> None:
    """Assert that a hybrid model gives the results of LiteRT for the same model with dequantized weights.

    It gives LiteRT's results for the hybrid model itself only roughly, because LiteRT quantizes the data.
    """
    expected = LiteRT(floats.content)(floats.inputs)
    found = CORE.compile_model(dynamic.content, device)(dynamic.inputs)
    assert_close(dict(zip(expected, found.values())), expected)
    assert_as_litert(dynamic, device, tolerance=2e-2)
