"""Connectionist temporal classification (CTC): label sequences from class scores at each time step."""

from __future__ import annotations

from hetero.core.types import Type
from hetero.graph import Attribute, Op
from hetero.ops.checks import check_scalar, check_scalar_or_one, check_type, merge_dimensions, shape_of_rank


class CTCGreedyDecoder(Op, opset=1):
    """The best class of each step without blanks (the last class): ``[batch, time, 1, 1]``, padded with -1.

    Scores are ``[time, batch, classes]``; a sequence ends at the first 0 in the mask ``[time, batch]``. With
    ``merge_repeated``, a class that is best in several consecutive steps is output once.

    - ``sequence_mask``: ``[time, batch]``, 1 up to the last step of each sequence, then 0.
    """

    input_names = ("data", "sequence_mask")
    merge_repeated = Attribute(bool, True, ir="ctc_merge_repeated")

    def validate_and_infer_types(self) -> None:
        check_type(self, [0], Type.is_real, "a floating-point type")
        scores = shape_of_rank(self, 0, 3)
        mask = shape_of_rank(self, 1, 2)
        time = merge_dimensions(self, (scores[0], mask[0]), "the steps of data and mask")
        batch = merge_dimensions(self, (scores[1], mask[1]), "the batches of data and mask")
        self.set_output_type(0, self.get_input_element_type(0), [batch, time, 1, 1])


class CTCGreedyDecoderSeqLen(Op, opset=6):
    """The best class of each step without blanks, ``[batch, time]`` padded with -1, and their number ``[batch]``.

    Scores are ``[batch, time, classes]``; ``sequence_length [batch]`` is the number of steps of each sequence. The
    blank is the last class by default.

    - ``merge_repeated``: whether a class that is best in several consecutive steps is output once.
    - ``classes_index_type``, ``sequence_length_type``: i32 or i64, the element types of the two outputs.
    - ``blank_index``: an integer scalar, the class that stands for the blank.
    """

    input_names = ("data", "sequence_length", "blank_index?")
    output_size = 2
    merge_repeated = Attribute(bool, True)
    classes_index_type = Attribute(Type, "i32")
    sequence_length_type = Attribute(Type, "i32")

    def validate_and_infer_types(self) -> None:
        check_type(self, [0], Type.is_real, "a floating-point type")
        if self.has_input("blank_index"):
            check_type(self, [2], Type.is_integer, "an integer")
            check_scalar_or_one(self, 2)
        scores = shape_of_rank(self, 0, 3)
        lengths = shape_of_rank(self, 1, 1)
        batch = merge_dimensions(self, (scores[0], lengths[0]), "the batches of data and lengths")
        self.set_output_type(0, self.classes_index_type, [batch, scores[1]])
        self.set_output_type(1, self.sequence_length_type, [batch])


class CTCLoss(Op, opset=4):
    """The negative log probability ``[batch]`` of labels ``[batch, time]`` for logits ``[batch, time, classes]``.

    The probability is the sum over all alignments of the labels with the steps, with blanks in between; with
    ``ctc_merge_repeated`` a label may span several steps. Before that, ``preprocess_collapse_repeated`` merges
    consecutive equal labels, and ``unique`` removes all duplicates. The blank is the last class by default.

    - ``logit_length``: ``[batch]``, the number of steps of each row of logits.
    - ``label_length``: ``[batch]``, the number of labels in each row of labels.
    - ``blank_index``: an integer scalar, the class that stands for the blank.
    """

    input_names = ("logits", "logit_length", "labels", "label_length", "blank_index?")
    preprocess_collapse_repeated = Attribute(bool, False)
    ctc_merge_repeated = Attribute(bool, True)
    unique = Attribute(bool, False)

    def validate_and_infer_types(self) -> None:
        check_type(self, [0], Type.is_real, "a floating-point type")
        check_type(self, range(1, self.get_input_size()), Type.is_integer, "integers")
        if self.has_input("blank_index"):
            check_scalar(self, 4)
        logits = shape_of_rank(self, 0, 3)
        labels = shape_of_rank(self, 2, 2)
        lengths = [shape_of_rank(self, index, 1)[0] for index in (1, 3)]
        merge_dimensions(self, (logits[1], labels[1]), "the steps of logits and labels")
        batch = merge_dimensions(self, (logits[0], labels[0], *lengths), "the batches of all inputs")
        self.set_output_type(0, self.get_input_element_type(0), [batch])
