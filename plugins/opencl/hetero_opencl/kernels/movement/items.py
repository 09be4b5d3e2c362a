"""ChooseItems: rows of items of a batch, which each row may have in another order."""

from __future__ import annotations

import math

from hetero.graph import Op
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.copies import WORDS, unsupported_movement, widest_word
from hetero_opencl.kernels.common.definition import lowers, source
from hetero_opencl.lowering.lowering import Lowering


class ChooseItems(Op):
    """Row i of ``rows [L, N, …]`` with the items ``items[i] [R, N]`` in place of 0 … N - 1; those from R on unchanged.

    So a decoder's beams change places without a copy of their caches. ``items`` are i32.
    """

    input_names = ("rows", "items")

    def validate_and_infer_types(self) -> None:
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


@lowers(ChooseItems, unsupported=unsupported_movement)
def choose_items(lowering: Lowering, node: ChooseItems) -> None:
    copy_items(lowering, node, lowering.buffer(node.output(0)))


def copy_items(lowering: Lowering, node: ChooseItems, target: Buffer) -> None:
    """Launch a copy of the rows with their items to a buffer."""
    rows, items = lowering.buffer(node.input_value(0)), lowering.buffer(node.input_value(1))
    (count, *_), size = node.get_input_shape(1), node.get_element_type().size
    _, batch, *shape = node.shape
    length = math.prod(shape) * size
    word = widest_word(length)
    text = source("choose_items", WORD=WORDS[word])
    lowering.launch_flat(
        text,
        "choose_items",
        [rows, items, target],
        math.prod(node.shape) * size // word,
        [count, batch, length // word],
    )
