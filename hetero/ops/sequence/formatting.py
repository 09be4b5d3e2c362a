"""Numbers and tensors as text, as TensorFlow formats them."""

from __future__ import annotations

import re

from hetero.core.types import Type
from hetero.graph import Attribute, Op
from hetero.ops.checks import check_type, is_number

# A flag, the width, the precision, the conversion.
_FORMAT = re.compile(r"%[-+ 0]?\d{0,3}(\.\d{1,3})?[defg]")


class FormatNumber(Op):
    """Each number as text, formatted as by C's printf.

    - ``format``: one conversion, "%d" for integers, else e, f or g; with a flag, the width and the precision.
    """

    input_names = ("data",)
    format = Attribute(str)

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), is_number, "numbers")
        kind = self.get_input_element_type(0)
        fits = kind.is_dynamic() or kind.is_integer() == self.format.endswith("d")
        if not _FORMAT.fullmatch(self.format) or not fits:
            self.fail(f"format {self.format!r} must be one of printf's for {kind}, with numbers of up to three digits")
        self.set_output_type(0, Type.string, self.get_input_partial_shape(0))


class StringFormat(Op):
    """A scalar: the template with each placeholder replaced by the text of an input, a tensor of any type and shape.

    - ``inputs``: the tensors.
    - ``template``: the text; it has as many placeholders as there are inputs.
    - ``placeholder``: the text that inputs replace.
    - ``summarize``: the number of elements that are printed at both ends of each axis; all if negative.
    """

    input_names = ("*inputs",)
    template = Attribute(str)
    placeholder = Attribute(str, "%s")
    summarize = Attribute(int, 3)

    def validate_and_infer_types(self) -> None:
        if not self.placeholder:
            self.fail("placeholder must not be empty")
        count = self.template.count(self.placeholder)
        if count != self.get_input_size():
            self.fail(f"template has {count} placeholders {self.placeholder!r} for {self.get_input_size()} inputs")
        self.set_output_type(0, Type.string, [])
