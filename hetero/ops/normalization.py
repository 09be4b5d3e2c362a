"""Softmax and normalizations: batch, group, mean-variance, local response, L2."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.core.shape import Dimension, PartialShape
from hetero.core.types import Type
from hetero.graph import Attribute, Op, choice, integers
from hetero.ops.checks import check_type, common_type, exact_value, merge_dimensions, normalize_axis


class _AlongAxis(Op):
    """Base of operations along one axis; the output has the element type and shape of the data.

    - ``axis``: the axis of the data.
    """

    input_names = ("data",)
    axis = Attribute(int)

    def validate_and_infer_types(self) -> None:
        shape = self.get_input_partial_shape(0)
        if shape.has_rank:
            normalize_axis(self, self.axis, len(shape))
        self.set_output_type(0, self.get_input_element_type(0), shape)


class Softmax(_AlongAxis, opset=8):
    """exp(x) divided by the sum of exp(x) along the axis, which may be negative."""


class SoftmaxV1(_AlongAxis, type_name="Softmax", opset=1):
    """exp(x) divided by the sum of exp(x) along the axis, which must not be negative."""

    def validate_and_infer_types(self) -> None:
        if self.axis < 0:
            self.fail(f"axis must not be negative, but is {self.axis}")
        super().validate_and_infer_types()


class LogSoftmax(_AlongAxis, opset=5):
    """The logarithm of Softmax."""


class BatchNormInferenceV1(Op, type_name="BatchNormInference", opset=1):
    """BatchNormInference with ``data`` as its third input.

    - ``epsilon``: a small number that is added to the variance.
    - ``gamma``, ``beta``, ``mean``, ``variance``: ``[C]``, one number for each channel.
    """

    input_names = ("gamma", "beta", "data", "mean", "variance")
    parameter_order = ("data", "gamma", "beta", "mean", "variance", "epsilon")
    epsilon = Attribute(float)

    def validate_and_infer_types(self) -> None:
        check_type(self, range(5), Type.is_real, "a floating-point number")
        if self.epsilon < 0:
            self.fail(f"epsilon must not be negative, but is {self.epsilon}")
        shape, _ = _merge_channels(self, ("gamma", "beta", "mean", "variance"))
        self.set_output_type(0, common_type(self, range(5)), shape)


class BatchNormInference(BatchNormInferenceV1, opset=5):
    """(x - mean) / √(variance + epsilon) · gamma + beta.

    ``data`` is ``[N, C, …]``; gamma, beta, mean and variance are ``[C]``.

    - ``epsilon``: a small number that is added to the variance.
    """

    input_names = ("data", "gamma", "beta", "mean", "variance")


class MVN(Op, opset=6):
    """x minus its mean over the axes, divided by its standard deviation if ``normalize_variance`` is set.

    ``eps_mode`` says whether ``eps`` is added to the variance (inside_sqrt) or to the deviation (outside_sqrt).
    """

    input_names = ("data", "axes")
    shape_inputs = (1,)
    normalize_variance = Attribute(bool)
    eps = Attribute(float)
    eps_mode = Attribute(choice("inside_sqrt", "outside_sqrt"))

    def validate_and_infer_types(self) -> None:
        axes = self.get_input_partial_shape(1)
        if not axes.compatible([-1]) and not axes.compatible([]):
            self.fail(f"axes must have one dimension, but have the shape {axes}")
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


class MVNV2(Op, type_name="MVN", opset=2):
    """MVN over ``reduction_axes``; by default all spatial axes, and the channels (axis 1) if across_channels is set.

    - ``normalize_variance``: whether the difference from the mean is divided by the standard deviation.
    - ``eps``: a small number that is added to the variance.
    - ``across_channels``: whether the mean is over the channels too.
    """

    input_names = ("data",)
    across_channels = Attribute(bool, False)
    normalize_variance = Attribute(bool, False)
    eps = Attribute(float, 1e-9)
    reduction_axes = Attribute(integers, None)
    eps_mode = "inside_sqrt"

    def validate_and_infer_types(self) -> None:
        shape = self.get_input_partial_shape(0)
        if self.reduction_axes is None and shape.has_rank:
            self.reduction_axes = range(1 if self.across_channels else 2, len(shape))
        self.set_output_type(0, self.get_input_element_type(0), shape)


class GroupNormalization(Op, opset=12):
    """(x - mean) / √(variance + epsilon) · scale + bias, with mean and variance per group of channels.

    ``data`` is ``[N, C, …]``; scale and bias are ``[C]``.

    - ``num_groups``: the number of groups, which divides C.
    - ``epsilon``: a small number that is added to the variance.
    """

    input_names = ("data", "scale", "bias")
    num_groups = Attribute(int)
    epsilon = Attribute(float)

    def validate_and_infer_types(self) -> None:
        check_type(self, range(3), Type.is_real, "a floating-point number")
        groups = self.num_groups
        if groups < 1:
            self.fail(f"num_groups must be positive, but is {groups}")
        shape, channels = _merge_channels(self, ("scale", "bias"))
        if channels.is_static and channels.get_length() % groups:
            self.fail(f"{channels} channels cannot be divided into {groups} groups of one size")
        self.set_output_type(0, common_type(self, range(3)), shape)


class LRN(Op, opset=1):
    """x / (bias + alpha · s / sizeⁿ)ᵝ, where s is the sum of x² in a window of ``size`` along each of the n axes.

    - ``alpha``, ``beta``, ``bias``: the numbers in the formula.
    """

    input_names = ("data", "axes")
    shape_inputs = (1,)
    alpha = Attribute(float, 1)
    beta = Attribute(float, 0.5)
    bias = Attribute(float, 1)
    size = Attribute(int, 5)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), Type.is_real, "a floating-point number")
        if self.size < 1:
            self.fail(f"size must be positive, but is {self.size}")
        _check_axes(self, PartialShape([-1]))
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


class NormalizeL2(Op, opset=1):
    """x / √s, where s is the sum of x² over the axes plus ``eps``, or the maximum of both, by ``eps_mode``."""

    input_names = ("data", "axes")
    shape_inputs = (1,)
    eps = Attribute(float)
    eps_mode = Attribute(choice("add", "max"))

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), Type.is_real, "a floating-point number")
        _check_axes(self, PartialShape([-1]), PartialShape([]))
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


class GRN(Op, opset=1):
    """x / √(s + bias), where s is the sum of x² over the channels (axis 1).

    - ``bias``: a small number that is added to the sum of squares.
    """

    input_names = ("data",)
    bias = Attribute(float)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), Type.is_real, "a floating-point number")
        shape = self.get_input_partial_shape(0)
        if shape.has_rank and not 2 <= len(shape) <= 4:
            self.fail(f"data must have 2 to 4 dimensions, but has the shape {shape}")
        self.set_output_type(0, self.get_input_element_type(0), shape)


def _merge_channels(node: Op, vectors: Sequence[str]) -> tuple[PartialShape, Dimension]:
    """Merge the channels of ``data [N, C, …]`` with those of vectors ``[C]``; return the shape of data, and C."""
    shape = node.get_input_partial_shape(node.input_index("data"))
    if shape.has_rank and len(shape) < 2:
        node.fail(f"data must have channels in dimension 1, but has the shape {shape}")
    channels = [shape[1] if shape.has_rank else Dimension()]
    for name in vectors:
        vector = node.get_input_partial_shape(node.input_index(name))
        if not vector.compatible([-1]):
            node.fail(f"{name} must have one dimension, but has the shape {vector}")
        channels.append(vector.merge([-1])[0])
    merged = merge_dimensions(node, channels, "the channels of its inputs")
    return PartialShape([shape[0], merged, *shape[2:]]) if shape.has_rank else shape, merged


def _check_axes(node: Op, *shapes: PartialShape) -> None:
    """Raise GraphError if input 1 is compatible with none of the shapes, or has an axis that input 0 does not have."""
    check_type(node, (1,), Type.is_integer, "an integer")
    data, shape = node.get_input_partial_shape(0), node.get_input_partial_shape(1)
    if not any(shape.compatible(accepted) for accepted in shapes):
        node.fail(f"axes must have one dimension, but have the shape {shape}")
    axes = exact_value(node.input_value(1))
    if axes is not None and data.has_rank:
        for axis in axes.reshape(-1).tolist():
            normalize_axis(node, axis, len(data))
