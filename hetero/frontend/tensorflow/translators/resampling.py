"""Resizing of images by the weights of a kernel: the product with a matrix of constant weights for each axis."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import constant_input, known_length
from hetero.graph import Constant, Node
from hetero.system.errors import FrontendError


def _lanczos(radius: int) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: np.sinc(x) * np.sinc(x / radius)


def _cubic(b: float, c: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return a cubic filter. Mitchell & Netravali, "Reconstruction Filters in Computer Graphics", 1988."""

    def weight(x: np.ndarray) -> np.ndarray:
        x = abs(x)
        near = ((12 - 9 * b - 6 * c) * x + (-18 + 12 * b + 6 * c)) * x * x + (6 - 2 * b)
        far = (((-b - 6 * c) * x + (6 * b + 30 * c)) * x + (-12 * b - 48 * c)) * x + (8 * b + 24 * c)
        return np.where(x < 1, near, far) / 6

    return weight


# The radius and the weight of each kernel.
_KERNELS: dict[str, tuple[float, Callable[[np.ndarray], np.ndarray]]] = {
    "lanczos1": (1, _lanczos(1)), "lanczos3": (3, _lanczos(3)), "lanczos5": (5, _lanczos(5)),
    "gaussian": (1.5, lambda x: np.where(abs(x) < 1.5, np.exp(-x * x / 0.5), 0)), "triangle": (1, lambda x: 1 - abs(x)),
    "keyscubic": (2, _cubic(0, 0.5)), "mitchellcubic": (2, _cubic(1 / 3, 1 / 3)),
}  # fmt: skip


# Maximum number of weights for an axis, which is enough for 8192 pixels.
_MAX_WEIGHTS = 1 << 26


@translator("ScaleAndTranslate")
def scale_and_translate(node: TensorflowNodeContext) -> Translation:
    """Inputs: images, the new height and width, scales and translations of both. All but images must be constant."""
    kind = node.get_attribute("kernel_type", "lanczos3")
    if kind not in _KERNELS:
        raise FrontendError(f"the kernel {kind} is not supported")
    antialias = node.get_attribute("antialias", True)
    sizes, scales, moves = (constant_input(node, index, name) for index, name in _CONSTANTS)
    return _apply(
        node,
        [
            _kernel_weights(length, int(size), np.float32(1) / scale, move, antialias, *_KERNELS[kind])
            for length, size, scale, move in zip(_lengths(node), sizes, scales, moves)
        ],
    )


_CONSTANTS = ((1, "size"), (2, "scale"), (3, "translation"))


def _kernel_weights(
    length: int,
    size: int,
    step: np.float32,
    move: np.float32,
    antialias: bool,
    radius: float,
    kernel: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """Return the weights ``[size, length]`` of old pixels in each new one; zeros for pixels outside of the image."""
    _check_weights(size, length)
    stretch = max(step, np.float32(1)) if antialias else np.float32(1)
    weights = np.zeros((size, length))
    for row in range(size):
        # In f32, as TensorFlow does: a rounding error decides whether a pixel at the radius belongs to the window.
        center = np.float32(row + 0.5) * step - step * move
        if not 0 <= center <= length:
            continue
        first = max(0, int(np.ceil(center - radius * stretch - 0.5)))
        last = min(length - 1, int(np.floor(center + radius * stretch - 0.5)))
        pixels = np.arange(first, last + 1)
        values = kernel((pixels.astype(np.float32) + np.float32(0.5) - center) / stretch)
        if abs(values.sum()) > 1e-6:
            weights[row, pixels] = values / values.sum()
    return weights


@translator("ResizeArea")
def resize_area(node: TensorflowNodeContext) -> Translation:
    """Each new pixel is the mean of the area that it covers."""
    align_corners = node.get_attribute("align_corners", False)
    sizes = constant_input(node, 1, "size")
    pairs = zip(_lengths(node), sizes.tolist())
    return _apply(node, [_area_weights(length, size, align_corners and size > 1) for length, size in pairs])


def _area_weights(length: int, size: int, align_corners: bool) -> np.ndarray:
    _check_weights(size, length)
    step = (length - 1) / (size - 1) if align_corners else length / size
    weights = np.zeros((size, length))
    for row in range(size):
        start, stop = row * step, (row + 1) * step
        for pixel in range(int(np.floor(start)), int(np.ceil(stop))):
            covered = min(pixel + 1, stop) - max(pixel, start)
            weights[row, min(pixel, length - 1)] += covered / step
    return weights


def _check_weights(size: int, length: int) -> None:
    if size * length > _MAX_WEIGHTS:
        raise FrontendError(f"resizing an axis from {length} to {size} pixels is not supported")


def _lengths(node: TensorflowNodeContext) -> list[int]:
    return [known_length(node.get_input(0), axis, "the height and width of images") for axis in (1, 2)]


def _apply(node: TensorflowNodeContext, weights: list[np.ndarray]) -> Node:
    """Multiply the rows and the columns of images by weights."""
    rows, columns = (Constant(matrix.astype(np.float32)) for matrix in weights)
    images = convert_to(node.get_input(0), Type.f32)
    resized = ops.Einsum([rows, images], "ah,nhwc->nawc")
    return ops.Einsum([columns, resized], "bw,nawc->nabc")
