"""Cumulative sums and products."""

from __future__ import annotations

from hetero.core.types import Type
from hetero.graph import Attribute, Op
from hetero.ops.checks import check_scalar_or_one, check_type, is_number, known_axis


class CumSum(Op, opset=3):
    """Cumulative sum along the axis, from the end if ``reverse`` is set.

    With ``exclusive`` an element is not part of its own sum. The output has the element type and shape of ``arg``.
    """

    input_names = ("arg", "axis")
    shape_inputs = (1,)
    exclusive = Attribute(bool, False)
    reverse = Attribute(bool, False)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), is_number, "a number")
        check_type(self, (1,), Type.is_integer, "an integer")
        check_scalar_or_one(self, 1)
        known_axis(self, 1, self.get_input_partial_shape(0))
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


class CumProd(CumSum):
    """Cumulative product, with the attributes of CumSum. In ONNX, not in OpenVINO."""
