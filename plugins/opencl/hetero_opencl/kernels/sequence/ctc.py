"""CTCGreedyDecoder and CTCLoss (connectionist temporal classification)."""

from __future__ import annotations

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Node, Output
from hetero_opencl.kernels.common.definition import lowers, source, template, unsupported_types
from hetero_opencl.kernels.reduction.sorting import find_best
from hetero_opencl.lowering.lowering import Argument, Lowering


@lowers(ops.CTCGreedyDecoder, unsupported=unsupported_types)
def ctc_greedy_decoder(lowering: Lowering, node: ops.CTCGreedyDecoder) -> None:
    """Decode scores [time, batch, classes] with a mask [time, batch]."""
    steps, batch, classes = node.get_input_shape(0)
    counts = lowering.scratch(batch)
    numbers = steps, batch, 1, classes, True, False, node.merge_repeated
    _decode(lowering, node, None, counts, Type.i32, numbers)


@lowers(ops.CTCGreedyDecoderSeqLen, unsupported=unsupported_types)
def ctc_greedy_decoder_seq_len(lowering: Lowering, node: ops.CTCGreedyDecoderSeqLen) -> None:
    _, steps, classes = node.get_input_shape(0)
    blank = node.input_value(2) if node.has_input("blank_index") else None
    counts = node.output(1)
    numbers = steps, 1, steps, classes, False, blank is not None, node.merge_repeated
    _decode(lowering, node, blank, counts, counts.element_type, numbers)


def _decode(
    lowering: Lowering, node: Node, blank: Output | None, counts: Argument, count_type: Type, numbers: tuple[int, ...]
) -> None:
    scores, lengths, labels = node.input_value(0), node.input_value(1), node.output(0)
    blank = blank or lengths
    types = {"DATA": scores.element_type, "LENGTH": lengths.element_type, "BLANK": blank.element_type,
             "LABEL": labels.element_type, "COUNT": count_type}  # fmt: skip
    rows, classes = scores.shape[0] * scores.shape[1], scores.shape[2]
    best, highest = lowering.scratch(rows), lowering.scratch(rows, scores.element_type.size)
    text = source("top_k", types | {"INDEX": Type.i32})
    find_best(lowering, text, [scores, highest, best], (classes, 1), descending=True, rows=rows)
    arguments: list[Argument] = [best, lengths, blank, labels, counts, *numbers]
    lowering.launch_flat(source("ctc", types), "decode", arguments, labels.shape[0])


@lowers(ops.CTCLoss, unsupported=unsupported_types)
def ctc_loss(lowering: Lowering, node: ops.CTCLoss) -> None:
    """Compute in f64 if the device has it, like the reference."""
    logits, steps, labels, lengths, *blanks = node.input_values()
    real = Type.f64 if lowering.profile.has_doubles else Type.f32
    blank = (*blanks, steps)[0]
    types = {"DATA": logits.element_type, "LENGTH": steps.element_type, "LABEL": labels.element_type,
             "COUNT": lengths.element_type, "BLANK": blank.element_type, "REAL": real}  # fmt: skip
    macros = {"UNIQUE": int(node.unique), "COLLAPSED": int(node.preprocess_collapse_repeated)}
    text = template("normalize_index") + source("ctc_loss", types, MERGED=int(node.ctc_merge_repeated), **macros)
    batch, length, classes = logits.shape
    norms = lowering.scratch(batch * length * 2, real.size)
    lowering.launch_flat(text, "find_norms", [logits, norms, classes], batch * length)
    width = 2 * length + 1
    inputs = (logits, steps, labels, lengths, blank)
    scratch = [norms, lowering.scratch(batch * width), lowering.scratch(batch * width, real.size)]
    lowering.launch_flat(text, "loss", [*inputs, *scratch, node.output(0), length, classes, len(blanks)], batch)
