"""Random number generation: RandomUniform and Multinomial."""

from __future__ import annotations

from hetero.core.types import Type
from hetero.graph import Attribute, Op, choice
from hetero.ops.checks import (
    check_index_type,
    check_type,
    exact_length,
    exact_value,
    is_number,
    shape_of_rank,
    shape_of_value,
)


class RandomUniform(Op, opset=8):
    """Uniformly distributed numbers of ``output_type`` from ``min_val`` up to but not including ``max_val``.

    Unless both seeds are 0 the numbers are reproducible; by ``alignment`` the generator is Philox 4x32-10 as in
    TensorFlow, or the Mersenne Twister as in PyTorch. Each inference continues the sequence of the previous one.

    - ``output_shape``: an integer vector, the shape of the output.
    - ``global_seed``, ``op_seed``: the seeds.
    """

    input_names = ("output_shape", "min_val", "max_val")
    shape_inputs = (0,)
    output_type = Attribute(Type)
    global_seed = Attribute(int, 0)
    op_seed = Attribute(int, 0)
    alignment = Attribute(choice("tensorflow", "pytorch"), "tensorflow")
    deterministic = False

    def validate_and_infer_types(self) -> None:
        if not is_number(self.output_type):
            self.fail(f"output_type must be a type of numbers, but is {self.output_type}")
        for index in (1, 2):
            count = self.get_input_partial_shape(index).element_count()
            if not count.compatible(1):
                self.fail(f"{self.input_names[index]} must be one number, but has {count}")
            element_type = self.get_input_element_type(index)
            if element_type not in (self.output_type, Type.dynamic):
                self.fail(f"{self.input_names[index]} must be of {self.output_type}, but is of {element_type}")
        low, high = (exact_value(self.input_value(index)) for index in (1, 2))
        if low is not None and high is not None and low.item() >= high.item():
            self.fail(f"min_val {low.item()} must be less than max_val {high.item()}")
        self.set_output_type(0, self.output_type, shape_of_value(self.input_value(0)))


class Multinomial(Op, opset=13):
    """For each row of ``probs``, ``num_samples`` column indices drawn with these probabilities.

    Rows need not sum to 1; with ``log_probs`` they are logarithms. Without replacement no column is drawn twice.

    - ``with_replacement``: whether a column may be drawn several times.
    - ``convert_type``: i32 or i64, the element type of the output.
    - ``global_seed``, ``op_seed``: the seeds; numbers are reproducible unless both are 0.
    """

    input_names = ("probs", "num_samples")
    shape_inputs = (1,)
    convert_type = Attribute(Type)
    with_replacement = Attribute(bool)
    log_probs = Attribute(bool)
    global_seed = Attribute(int, 0)
    op_seed = Attribute(int, 0)
    deterministic = False

    def validate_and_infer_types(self) -> None:
        check_type(self, (0,), Type.is_real, "a floating-point number")
        check_type(self, (1,), Type.is_integer, "an integer")
        check_index_type(self, "convert_type")
        rows, columns = shape_of_rank(self, 0, 2)
        samples = exact_length(self.input_value(1))
        if not self.with_replacement and samples.min_length > columns.max_length != -1:
            self.fail(f"{samples} samples cannot be drawn without replacement from {columns} columns")
        self.set_output_type(0, self.convert_type, [rows, samples])
