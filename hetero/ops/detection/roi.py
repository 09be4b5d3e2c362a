"""Region of interest (ROI) pooling: boxes in the images of a batch, each pooled to a fixed size."""

from __future__ import annotations

import inspect
from typing import Any

from hetero.core.shape import Dimension
from hetero.core.types import Type
from hetero.graph import Attribute, Op, choice, integers
from hetero.ops.checks import check_type, common_type, merge_dimensions, shape_of_rank

# Limit of samples per bin and axis. Far more than models use; prevents files from requesting unbounded work.
MAX_SAMPLES = 1 << 10


class _RegionPooling(Op):
    """Base of ROI poolings: data ``[N, C, H, W]`` and boxes ``[R, box_length]``."""

    box_length = 5

    def check_inputs(self) -> None:
        """Raise GraphError if data or boxes are not floating-point numbers or have the wrong rank."""
        check_type(self, (0, 1), Type.is_real, "floating-point numbers")
        _, length = shape_of_rank(self, 1, 2)
        if not length.compatible(self.box_length):
            self.fail(f"each region must have {self.box_length} numbers, but has {length}")

    def check_positive(self, *names: str) -> None:
        for name in names:
            if getattr(self, name) <= 0:
                self.fail(f"{name} must be positive, but is {getattr(self, name)}")

    @property
    def channels(self) -> Dimension:
        return shape_of_rank(self, 0, 4)[1]

    @property
    def region_count(self) -> Dimension:
        return shape_of_rank(self, 1, 2)[0]


class ROIPooling(_RegionPooling, opset=2):
    """Regions ``[image, x1, y1, x2, y2]`` pooled to ``[R, C, output_roi…]`` by maximum or bilinear interpolation.

    Regions with a negative image index give zeros.

    - ``input``: ``[N, C, H, W]``.
    - ``coords``: ``[R, 5]``, the image and the corners of each region.
    - ``output_roi``, ``size``: the number of bins along each axis; two names of one attribute.
    - ``pooled_h``, ``pooled_w``: the same as two numbers.
    - ``spatial_scale``: the factor from coordinates of regions to those of the data, in mode max.
    - ``method``: the maximum of each bin, or one bilinear sample.
    """

    input_names = ("input", "coords")
    parameter_order = ("input", "coords", "output_roi", "spatial_scale", "method")
    output_roi = Attribute(integers, None)
    spatial_scale = Attribute(float, None)
    method = Attribute(choice("max", "bilinear"), "max")
    # Alternative names of output_roi in IR files; the factory accepts output_size too.
    size = Attribute(integers, None, ir="output_size")
    pooled_h = Attribute(int, None)
    pooled_w = Attribute(int, None)

    @classmethod
    def signature(cls) -> inspect.Signature:
        signature = super().signature()
        other = inspect.Parameter("output_size", inspect.Parameter.KEYWORD_ONLY, default=None)
        return signature.replace(parameters=[*signature.parameters.values(), other])

    @classmethod
    def bind(cls, *arguments: Any, **keywords: Any) -> dict[str, Any]:
        bound = super().bind(*arguments, **keywords)
        return {"size": bound.pop("output_size"), "pooled_h": None, "pooled_w": None} | bound

    def validate_and_infer_types(self) -> None:
        if not self.size and not self.output_roi and None not in (self.pooled_h, self.pooled_w):
            self.size = self.pooled_h, self.pooled_w
        self.output_roi = self.size or self.output_roi or ()
        if len(self.output_roi) != 2 or min(self.output_roi) < 1:
            self.fail(f"output_roi must be two positive numbers, but is {list(self.output_roi)}")
        self.size = self.output_roi
        self.pooled_h, self.pooled_w = self.output_roi
        if self.spatial_scale is None or self.spatial_scale <= 0:
            self.fail(f"spatial_scale must be a positive number, but is {self.spatial_scale}")
        self.check_inputs()
        self.set_output_type(0, common_type(self, (0, 1)), [self.region_count, self.channels, *self.output_roi])


class _AlignedPooling(_RegionPooling):
    """Base of ROI align operations: boxes and their image indices are two inputs; bins are sampled bilinearly.

    - ``rois``: ``[R, 4]``, the corners of the regions; with an angle ``[R, 5]``.
    - ``batch_indices``: ``[R]``, the image of each region.
    - ``pooled_h``, ``pooled_w``: the number of bins along each axis.
    - ``sampling_ratio``: the number of samples per bin and axis; 0 for the length of the bin, rounded up.
    - ``spatial_scale``: the factor from coordinates of regions to those of the data.
    """

    input_names = ("data", "rois", "batch_indices")
    pooled_h = Attribute(int)
    pooled_w = Attribute(int)
    sampling_ratio = Attribute(int)
    spatial_scale = Attribute(float)

    def validate_and_infer_types(self) -> None:
        for name in ("pooled_h", "pooled_w", "sampling_ratio"):
            if getattr(self, name) < 0:
                self.fail(f"{name} cannot be negative, but is {getattr(self, name)}")
        if self.sampling_ratio > MAX_SAMPLES:
            self.fail(f"sampling_ratio must be at most {MAX_SAMPLES}, but is {self.sampling_ratio}")
        self.check_inputs()
        check_type(self, (2,), Type.is_integer, "integers")
        counts = (self.region_count, *shape_of_rank(self, 2, 1))
        regions = merge_dimensions(self, counts, "the numbers of rois and batch_indices")
        self.set_output_type(0, common_type(self, (0, 1)), [regions, self.channels, self.pooled_h, self.pooled_w])


class ROIAlignV3(_AlignedPooling, type_name="ROIAlign", opset=3):
    """Regions ``[x1, y1, x2, y2]`` pooled to ``[R, C, pooled_h, pooled_w]``: mean or maximum of each bin's samples.

    A bin has ``sampling_ratio`` samples per axis, or if that is 0, its length rounded up.

    - ``mode``: the mean or the maximum of the samples of a bin.
    """

    box_length = 4
    mode = Attribute(choice("avg", "max"))
    aligned_mode = "asymmetric"


class ROIAlign(ROIAlignV3, opset=9):
    """ROIAlign-3 with ``aligned_mode``, the position of element centers."""

    aligned_mode = Attribute(choice("asymmetric", "half_pixel_for_nn", "half_pixel"), "asymmetric")


class ROIAlignLargestTerm(ROIAlign):
    """ONNX's RoiAlign with mode max: the maximum of the weighted terms of the samples, instead of their sums."""


class ROIAlignRotated(_AlignedPooling, opset=15):
    """ROIAlign of rotated regions ``[center x, center y, width, height, angle]``, with the mean of the samples.

    - ``clockwise_mode``: whether angles are clockwise.
    """

    clockwise_mode = Attribute(bool)


class PSROIPooling(_RegionPooling, opset=1):
    """Position-sensitive pooling of regions ``[image, x1, y1, x2, y2]`` to ``[R, output_dim, group_size, group_size]``.

    Each bin reads its own channels. Mode average takes the mean of the bin; bilinear interpolates the region, given as
    fractions of the image, and averages over ``spatial_bins``.

    - ``input``: ``[N, C, H, W]``.
    - ``coords``: ``[R, 5]``, the image and the corners of each region.
    - ``spatial_scale``: the factor from coordinates of regions to those of the data.
    - ``spatial_bins_x``, ``spatial_bins_y``: the number of parts of a region along each axis, in mode bilinear.
    - ``mode``: the mean of each bin, or bilinear samples.
    """

    input_names = ("input", "coords")
    output_dim = Attribute(int)
    group_size = Attribute(int)
    spatial_scale = Attribute(float)
    spatial_bins_x = Attribute(int)
    spatial_bins_y = Attribute(int)
    mode = Attribute(choice("average", "bilinear"))

    def validate_and_infer_types(self) -> None:
        self.check_positive("output_dim", "group_size", "spatial_scale", "spatial_bins_x", "spatial_bins_y")
        self.check_inputs()
        parts = self.group_size**2 if self.mode == "average" else self.spatial_bins_x * self.spatial_bins_y
        if not self.channels.compatible(self.output_dim * parts):
            self.fail(f"input must have {self.output_dim * parts} channels, but has {self.channels}")
        shape = [self.region_count, self.output_dim, self.group_size, self.group_size]
        self.set_output_type(0, self.get_input_element_type(0), shape)


class DeformablePSROIPooling(_RegionPooling, opset=1):
    """PSROIPooling by means of bilinear samples, with the bins shifted by ``offsets [R, 2·classes, part, part]``.

    - ``feature_maps``: ``[N, output_dim * group_size², H, W]``.
    - ``coords``: ``[R, 5]``, the image and the corners of each region.
    - ``output_dim``: the number of channels of the output.
    - ``group_size``: the number of bins on each axis of a region.
    - ``spatial_scale``: the factor from coordinates of regions to those of the feature map.
    - ``mode``: bilinear_deformable is the only mode.
    - ``spatial_bins_x``, ``spatial_bins_y``: the number of samples in a bin along each axis.
    - ``trans_std``: the factor from offsets to fractions of the region's size.
    - ``part_size``: the number of offsets along each axis of a region.
    """

    input_names = ("feature_maps", "coords", "offsets?")
    parameter_order = (
        "feature_maps", "coords", "output_dim", "spatial_scale", "group_size", "mode", "spatial_bins_x",
        "spatial_bins_y", "trans_std", "part_size", "offsets",
    )  # fmt: skip
    output_dim = Attribute(int)
    spatial_scale = Attribute(float)
    group_size = Attribute(int, 1)
    mode = Attribute(choice("bilinear_deformable"), "bilinear_deformable")
    spatial_bins_x = Attribute(int, 1)
    spatial_bins_y = Attribute(int, 1)
    trans_std = Attribute(float, 1.0)
    part_size = Attribute(int, 1)

    def validate_and_infer_types(self) -> None:
        self.check_positive("output_dim", "group_size", "spatial_bins_x", "spatial_bins_y", "part_size")
        self.check_inputs()
        needed = self.output_dim * self.group_size**2
        if self.channels.is_static and self.channels.get_length() < needed:
            self.fail(f"feature_maps must have {needed} channels, but have {self.channels}")
        if self.has_input("offsets"):
            offsets = shape_of_rank(self, 2, 4)
            if not all(length.compatible(self.part_size) for length in offsets[2:]):
                self.fail(f"offsets {offsets} must have part_size {self.part_size} rows and columns")
        shape = [self.region_count, self.output_dim, self.group_size, self.group_size]
        self.set_output_type(0, common_type(self, range(self.get_input_size())), shape)
