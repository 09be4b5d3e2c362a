"""Images: resizing, patches, contrast and color spaces."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.frontend.numerics.quantization import convert_to
from hetero.frontend.tensorflow.node_context import TensorflowNodeContext
from hetero.frontend.tensorflow.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.frontend.translation.values import channels_last, channels_second, int64, scalar_like
from hetero.graph import Node, Output


@translator("ResizeBicubic")
def resize_bicubic(node: TensorflowNodeContext) -> Translation:
    """With half-pixel centers by Keys' kernel of a = -0.5 without pixels outside of the image, else of a = -0.75."""
    is_half_pixel = node.get_attribute("half_pixel_centers", False)
    coordinates = "asymmetric"
    if node.get_attribute("align_corners", False):
        coordinates = "align_corners"
    elif is_half_pixel:
        coordinates = "half_pixel"
    return channels_last(
        ops.Resize(
            channels_second(convert_to(node.get_input(0), Type.f32)),
            node.get_input(1),
            axes=(2, 3),
            mode="cubic",
            shape_calculation_mode="sizes",
            coordinate_transformation_mode=coordinates,
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


@translator("AdjustContrastv2")
def adjust_contrast(node: TensorflowNodeContext) -> Translation:
    """Scale the difference of each pixel from the mean of its channel, the axes before the last two being batches."""
    images, factor = node.get_inputs()
    kind, images = images.element_type, convert_to(images, Type.f32)
    mean = ops.ReduceMean(images, int64([-3, -2]), True)
    adjusted = ops.Add(ops.Multiply(ops.Subtract(images, mean), factor), mean)
    return convert_to(adjusted.output(0), kind)


@translator("RGBToHSV")
def rgb_to_hsv(node: TensorflowNodeContext) -> Translation:
    return _stack(_hsv_of(node.get_input(0)))


@translator("HSVToRGB")
def hsv_to_rgb(node: TensorflowNodeContext) -> Translation:
    return _stack(_rgb_of(*_channels(node.get_input(0))))


@translator("AdjustSaturation")
def adjust_saturation(node: TensorflowNodeContext) -> Translation:
    images, factor = node.get_inputs()
    kind = images.element_type
    hue, saturation, value = _hsv_of(convert_to(images, Type.f32))
    scaled = ops.Clamp(ops.Multiply(saturation, factor), 0.0, 1.0).output(0)
    return convert_to(_stack(_rgb_of(hue, scaled, value)), kind)


@translator("AdjustHue")
def adjust_hue(node: TensorflowNodeContext) -> Translation:
    """Hue is a number from 0 to 1, to which input 1 is added cyclically."""
    images, delta = node.get_inputs()
    kind = images.element_type
    hue, saturation, value = _hsv_of(convert_to(images, Type.f32))
    turned = ops.FloorMod(ops.Add(hue, delta), scalar_like(hue, 1)).output(0)
    return convert_to(_stack(_rgb_of(turned, saturation, value)), kind)


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
