"""Operations of YOLO networks: RegionYolo and ReorgYolo."""

from __future__ import annotations

from hetero.core.shape import Dimension, PartialShape, concatenate
from hetero.core.types import Type
from hetero.graph import Attribute, Op, floats, integers
from hetero.ops.checks import check_type, normalize_axis, shape_of_rank
from hetero.ops.movement.movement import divide_exactly


class RegionYolo(Op, opset=1):
    """Activations of the last feature map ``[images, boxes * (coords + 1 + classes), height, width]``.

    The logistic function is applied to x, y and the confidence of each box. With ``do_softmax``, a softmax is applied
    to its classes, a cell has ``num`` boxes, and the dimensions ``axis`` to ``end_axis`` are flattened. Without it,
    the logistic function is applied to the classes too, and a cell has one box for each element of ``mask``.
    ``anchors`` has no effect.

    - ``input``: the feature map.
    """

    input_names = ("input",)
    coords = Attribute(int)
    classes = Attribute(int)
    num = Attribute(int)
    do_softmax = Attribute(bool)
    mask = Attribute(integers)
    axis = Attribute(int)
    end_axis = Attribute(int)
    anchors = Attribute(floats, None)

    @property
    def box_size(self) -> int:
        """The number of channels of a box."""
        return self.coords + 1 + self.classes

    @property
    def boxes(self) -> int:
        """The number of boxes in a cell."""
        return self.num if self.do_softmax else len(self.mask)

    def validate_and_infer_types(self) -> None:
        check_type(self, [0], Type.is_real, "a floating-point type")
        self.anchors = self.anchors or ()
        element_type = self.get_input_element_type(0)
        if not self.get_input_partial_shape(0).has_rank:
            self.set_output_type(0, element_type, PartialShape.dynamic())
            return
        shape = shape_of_rank(self, 0, 4)
        if not shape[1].compatible(Dimension.interval(self.boxes * self.box_size, None)):
            self.fail(f"data must have {self.boxes * self.box_size} channels or more, but has the shape {shape}")
        if self.do_softmax:
            begin, end = (normalize_axis(self, axis, 4) for axis in (self.axis, self.end_axis))
            if begin < end:
                shape = concatenate(shape[:begin], [shape[begin : end + 1].element_count()], shape[end + 1 :])
        else:
            shape = concatenate(shape[:1], [self.boxes * self.box_size], shape[2:])
        self.set_output_type(0, element_type, shape)


class ReorgYolo(Op, opset=2):
    """YOLO v2's reorganization of spatial elements into channels, including its unusual order.

    The data ``[N, C, H, W]`` is reinterpreted as ``[N, C / stride², H * stride, W * stride]`` and divided into blocks
    of ``stride`` by ``stride`` elements. Elements at the same position in their blocks are grouped; the result is
    reinterpreted as ``[N, C * stride², H / stride, W / stride]``.

    - ``input``: the data.
    """

    input_names = ("input",)
    stride = Attribute(integers)

    def validate_and_infer_types(self) -> None:
        if not self.stride or self.stride[0] < 1:
            self.fail(f"stride must be a positive number, but is {self.stride}")
        shape = self.get_input_partial_shape(0)
        if shape.has_rank:
            stride = self.stride[0]
            batch, channels, height, width = shape_of_rank(self, 0, 4)
            divide_exactly(self, channels, stride**2)
            spatial = (divide_exactly(self, length, stride) for length in (height, width))
            shape = PartialShape([batch, channels * stride**2, *spatial])
        self.set_output_type(0, self.get_input_element_type(0), shape)
