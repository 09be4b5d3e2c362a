"""Images: resizing, patches, contrast and color spaces.

Some resize by the product with a matrix of constant weights for each axis.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.resize import coordinate_mode, resize_bilinear, resize_nearest
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext, rows, translator
from hetero.frontend.translation.translators import Row, Translation
from hetero.frontend.translation.values import (
    channels_last,
    channels_second,
    constant_input,
    convert_to,
    int64,
    known_length,
    scalar_like,
)
from hetero.graph import Constant, Node, Output
from hetero.system.errors import FrontendError

translator("ResizeBilinear")(resize_bilinear)
translator("ResizeNearestNeighbor")(resize_nearest)


@translator("ResizeBicubic")
def resize_bicubic(node: TensorflowNodeContext) -> Translation:
    """Interpolate by Keys' kernel of a = -0.75, with half-pixel centers of a = -0.5 and without pixels outside."""
    is_half_pixel = node.get_attribute("half_pixel_centers", False)
    return channels_last(
        ops.Resize(
            channels_second(convert_to(node.get_input(0), Type.f32)),
            node.get_input(1),
            axes=(2, 3),
            mode="cubic",
            shape_calculation_mode="sizes",
            coordinate_transformation_mode=coordinate_mode(node, "half_pixel"),
            cube_coeff=-0.5 if is_half_pixel else -0.75,
            exclude_outside=bool(is_half_pixel),
        )
    )


@translator("ExtractImagePatches")
def extract_image_patches(node: TensorflowNodeContext) -> Translation:
    sizes, strides, rates = (node.get_attribute(name)[1:3] for name in ("ksizes", "strides", "rates"))
    padding = "same_upper" if node.get_attribute("padding") == "SAME" else "valid"
    data = channels_second(node.get_input(0))
    return channels_last(ops.ExtractImagePatches(data, sizes, strides, rates, padding))


def _adjust_contrast(images: Output, factor: Output) -> Output:
    """Scale the difference of each pixel from the mean of its channel, the axes before the last two being batches."""
    kind, images = images.element_type, convert_to(images, Type.f32)
    mean = ops.ReduceMean(images, int64([-3, -2]), True)
    adjusted = ops.Add(ops.Multiply(ops.Subtract(images, mean), factor), mean)
    return convert_to(adjusted.output(0), kind)


def _adjust_saturation(images: Output, factor: Output) -> Output:
    hue, saturation, value = _hsv_of(convert_to(images, Type.f32))
    scaled = ops.Clamp(ops.Multiply(saturation, factor), 0.0, 1.0).output(0)
    return convert_to(_stack(_rgb_of(hue, scaled, value)), images.element_type)


def _adjust_hue(images: Output, delta: Output) -> Output:
    """Hue is a number from 0 to 1, to which ``delta`` is added cyclically."""
    hue, saturation, value = _hsv_of(convert_to(images, Type.f32))
    turned = ops.FloorMod(ops.Add(hue, delta), scalar_like(hue, 1)).output(0)
    return convert_to(_stack(_rgb_of(turned, saturation, value)), images.element_type)


rows(
    {
        "AdjustContrastv2": Row(_adjust_contrast), "AdjustHue": Row(_adjust_hue),
        "AdjustSaturation": Row(_adjust_saturation),
        "HSVToRGB": Row(lambda images: _stack(_rgb_of(*_channels(images)))),
        "RGBToHSV": Row(lambda images: _stack(_hsv_of(images))),
    }
)  # fmt: skip


def _channels(images: Output) -> list[Output]:
    return [ops.Gather(images, int64(channel), int64(-1)).output(0) for channel in range(3)]


def _stack(channels: list[Output]) -> Output:
    return ops.Concat([ops.Unsqueeze(channel, int64([-1])) for channel in channels], -1).output(0)


def _hsv_of(images: Output) -> list[Output]:
    """Return hue, saturation and value of RGB images. Smith, "Color Gamut Transform Pairs", 1978."""
    red, green, blue = _channels(images)
    value = ops.Maximum(ops.Maximum(red, green), blue).output(0)
    extent = ops.Subtract(value, ops.Minimum(ops.Minimum(red, green), blue)).output(0)
    zero, one, sixth = (scalar_like(value, number) for number in (0, 1, 1 / 6))
    is_gray, is_black = ops.LessEqual(extent, zero), ops.LessEqual(value, zero)
    saturation = ops.Select(is_black, zero, ops.Divide(extent, ops.Select(is_black, one, value)))
    unit = ops.Divide(sixth, ops.Select(is_gray, one, extent))

    def sector(left: Output, right: Output, start: float) -> Node:
        return ops.Add(ops.Multiply(ops.Subtract(left, right), unit), scalar_like(value, start))

    below_red = ops.Select(ops.Equal(green, value), sector(blue, red, 2 / 6), sector(red, green, 4 / 6))
    hue = ops.Select(ops.Equal(red, value), sector(green, blue, 0), below_red)
    hue = ops.Select(is_gray, zero, ops.Select(ops.Less(hue, zero), ops.Add(hue, one), hue))
    return [hue.output(0), saturation.output(0), value]


def _rgb_of(hue: Output, saturation: Output, value: Output) -> list[Output]:
    """Return red, green and blue: the value times 1 - saturation · (1 - how much of the color the hue has)."""
    sixths = ops.Multiply(hue, scalar_like(hue, 6))
    one = scalar_like(hue, 1)

    def channel(center: int, is_red: bool) -> Output:
        distance = ops.Abs(ops.Subtract(sixths, scalar_like(hue, center)))
        share = ops.Subtract(distance, one) if is_red else ops.Subtract(scalar_like(hue, 2), distance)
        absent = ops.Subtract(one, ops.Clamp(share, 0.0, 1.0))
        return ops.Multiply(value, ops.Subtract(one, ops.Multiply(saturation, absent))).output(0)

    return [channel(3, True), channel(2, False), channel(4, False)]


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
