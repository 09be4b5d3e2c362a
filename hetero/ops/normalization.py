"""Operations that bring values to a common scale."""

from __future__ import annotations

from hetero.errors import GraphError
from hetero.graph import Attribute, Op, choice, integers
from hetero.ops.checks import check_type, common_type, merge_dimensions, normalize_axis
from hetero.ops.values import exact_value
from hetero.shape import Dimension, PartialShape
from hetero.types import Type


class _AlongAxis(Op):
    inputs = ("data",)
    axis = Attribute(int)

    def validate_and_infer_types(self) -> None:
        shape = self.get_input_partial_shape(0)
        if shape.has_rank:
            normalize_axis(self, self.axis, len(shape))
        self.set_output_type(0, self.get_input_element_type(0), shape)


class Softmax(_AlongAxis, opset=8):
    """exp(x) over the sum of exp(x) along the axis, which may be negative."""


class SoftmaxV1(_AlongAxis, type_name="Softmax", opset=1):
    """exp(x) over the sum of exp(x) along the axis, which is counted from the front."""

    def validate_and_infer_types(self) -> None:
        if self.axis < 0:
            self.fail(f"axis must not be negative, but is {self.axis}")
        super().validate_and_infer_types()


class LogSoftmax(_AlongAxis, opset=5):
    """The logarithm of Softmax."""


class _BatchNormInference(Op):
    epsilon = Attribute(float)

    def validate_and_infer_types(self) -> None:
        check_type(self, range(5), Type.is_real, "a floating-point number")
        if self.epsilon < 0:
            self.fail(f"epsilon must not be negative, but is {self.epsilon}")
        shape = self.get_input_partial_shape(self.input_index("data"))
        if shape.has_rank and len(shape) < 2:
            self.fail(f"data must have channels in dimension 1, but has the shape {shape}")
        channels = [shape[1] if shape.has_rank else Dimension()]
        for name in ("gamma", "beta", "mean", "variance"):
            vector = self.get_input_partial_shape(self.input_index(name))
            try:
                channels.append(vector.merge([-1])[0])
            except GraphError:
                self.fail(f"{name} must have one dimension, but has the shape {vector}")
        merged = merge_dimensions(self, channels, "the channels of its inputs")
        if shape.has_rank:
            shape = PartialShape([shape[0], merged, *shape[2:]])
        self.set_output_type(0, common_type(self, range(5)), shape)


class BatchNormInference(_BatchNormInference, opset=5):
    """(x - mean) / √(variance + epsilon) · gamma + beta, each a vector with an element for every channel (axis 1)."""

    inputs = ("data", "gamma", "beta", "mean", "variance")


class BatchNormInferenceV1(_BatchNormInference, type_name="BatchNormInference", opset=1):
    """BatchNormInference whose data is the third of its inputs."""

    inputs = ("gamma", "beta", "data", "mean", "variance")
    parameter_order = ("data", "gamma", "beta", "mean", "variance", "epsilon")


class MVN(Op, opset=6):
    """x less its mean over the axes, divided by its deviation if normalize_variance is set.

    eps is added to the variance inside the root, or to the deviation, as eps_mode says.
    """

    inputs = ("data", "axes")
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
    """MVN over all dimensions from the third on, and over the channels, the second, where across_channels is set.

    ``reduction_axes``: other axes, or None for these.
    """

    inputs = ("data",)
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
    """(x - mean) / √(variance + epsilon) of each group of channels (axis 1), times scale plus bias of each channel."""

    inputs = ("data", "scale", "bias")
    num_groups = Attribute(int)
    epsilon = Attribute(float)

    def validate_and_infer_types(self) -> None:
        check_type(self, range(3), Type.is_real, "a floating-point number")
        shape, groups = self.get_input_partial_shape(0), self.num_groups
        if groups < 1:
            self.fail(f"num_groups must be positive, but is {groups}")
        if shape.has_rank and len(shape) < 2:
            self.fail(f"data must have channels in dimension 1, but has the shape {shape}")
        channels = [shape[1] if shape.has_rank else Dimension()]
        for index in (1, 2):
            vector = self.get_input_partial_shape(index)
            if not vector.compatible([-1]):
                self.fail(f"{self.inputs_declared[index]} must have one dimension, but has the shape {vector}")
            channels.append(vector.merge([-1])[0])
        merged = merge_dimensions(self, channels, "the channels of its inputs")
        if merged.is_static and merged.get_length() % groups:
            self.fail(f"{merged} channels cannot be divided into {groups} groups of one size")
        if shape.has_rank:
            shape = PartialShape([shape[0], merged, *shape[2:]])
        self.set_output_type(0, common_type(self, range(3)), shape)


class LRN(Op, opset=1):
    """x / (bias + alpha · s / sizeⁿ)ᵝ, s the sum of x² in a window of ``size`` around each element on the n axes."""

    inputs = ("data", "axes")
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
    """x over the root of its sum of squares over the axes, to which eps is added, or which is at least eps."""

    inputs = ("data", "axes")
    shape_inputs = (1,)
    eps = Attribute(float)
    eps_mode = Attribute(choice("add", "max"))

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), Type.is_real, "a floating-point number")
        _check_axes(self, PartialShape([-1]), PartialShape([]))
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


class GRN(Op, opset=1):
    """x / √(s + bias), s the sum of x² over the channels (axis 1)."""

    inputs = ("data",)
    bias = Attribute(float)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), Type.is_real, "a floating-point number")
        shape = self.get_input_partial_shape(0)
        if shape.has_rank and not 2 <= len(shape) <= 4:
            self.fail(f"data must have 2 to 4 dimensions, but has the shape {shape}")
        self.set_output_type(0, self.get_input_element_type(0), shape)


def _check_axes(node: Op, *shapes: PartialShape) -> None:
    """Raises GraphError where input 1 is of none of these shapes, or names an axis that input 0 does not have."""
    check_type(node, (1,), Type.is_integral, "a whole number")
    data, shape = node.get_input_partial_shape(0), node.get_input_partial_shape(1)
    if not any(shape.compatible(fitting) for fitting in shapes):
        node.fail(f"axes must have one dimension, but have the shape {shape}")
    axes = exact_value(node.input_value(1))
    if axes is not None and data.has_rank:
        for axis in axes.reshape(-1).tolist():
            normalize_axis(node, axis, len(data))
