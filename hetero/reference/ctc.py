"""Connectionist temporal classification, for all sequences of a batch at once."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.graph import Node
from hetero.reference.registry import evaluates, in_single


@evaluates(ops.CTCGreedyDecoder)
@in_single
def ctc_greedy_decoder(node: Node, scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    goes_on = np.logical_and.accumulate(mask != 0, axis=0).T
    found, _ = _decoded(scores.transpose(1, 0, 2), goes_on, scores.shape[2] - 1, node.merge_repeated)
    return found[..., None, None]


@evaluates(ops.CTCGreedyDecoderSeqLen)
@in_single
def ctc_greedy_decoder_seq_len(node: Node, scores: np.ndarray, lengths: np.ndarray, blank=None) -> tuple:
    goes_on = np.arange(scores.shape[1]) < lengths[:, None]
    return _decoded(scores, goes_on, _blank(blank, scores), node.merge_repeated)


def _blank(blank: np.ndarray | None, scores: np.ndarray) -> int:
    return scores.shape[2] - 1 if blank is None else int(blank.reshape(-1)[0])


def _decoded(scores: np.ndarray, goes_on: np.ndarray, blank: int, merge: bool) -> tuple[np.ndarray, np.ndarray]:
    """The labels ``[batch, time]``, filled up with -1, and how many there are of each sequence."""
    best = scores.argmax(axis=2)
    kept = goes_on & (best != blank)
    if merge:
        kept[:, 1:] &= best[:, 1:] != best[:, :-1]
    return _moved_to_front(best, kept)


def _moved_to_front(values: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The kept elements of each row, filled up with -1, and how many there are."""
    result = np.full(values.shape, -1, np.int64)
    rows, columns = np.nonzero(kept)
    result[rows, kept.cumsum(axis=1)[rows, columns] - 1] = values[rows, columns]
    return result, kept.sum(axis=1)


@evaluates(ops.CTCLoss)
@in_single
def ctc_loss(node: Node, logits: np.ndarray, steps, labels, lengths, blank=None) -> np.ndarray:
    """By the forward variables of Graves et al., Connectionist Temporal Classification (2006), section 4.1."""
    if (steps > logits.shape[1]).any() or (lengths > steps).any():
        raise ValueError(f"there are {lengths} labels for {steps} of {logits.shape[1]} steps")
    labels, lengths = _targets(node, labels, lengths)
    path = np.full((len(labels), 2 * labels.shape[1] + 1), _blank(blank, logits))
    path[:, 1::2] = labels.clip(0)
    logits = logits.astype(np.float64)
    logits = logits - logits.max(axis=2, keepdims=True)
    scores = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
    is_label = np.arange(path.shape[1]) % 2 == 1
    # Label to label is allowed where they differ, as else they would be one; that cannot be where none is merged.
    skips = is_label & (path != np.roll(path, 2, axis=1)) if node.ctc_merge_repeated else is_label
    stays = np.where(is_label & (not node.ctc_merge_repeated), -np.inf, 0)
    chances = np.full(path.shape, -np.inf)
    chances[:, 0] = 0
    for step in range(logits.shape[1]):
        skipped = np.where(skips, _shifted(chances, 2), -np.inf)
        reached = np.logaddexp(np.logaddexp(chances + stays, _shifted(chances, 1)), skipped)
        reached += np.take_along_axis(scores[:, step], path, axis=1)
        chances = np.where((step < steps)[:, None], reached, chances)
    rows = np.arange(len(labels))
    at_label = np.where(lengths > 0, chances[rows, 2 * lengths - 1], -np.inf)
    return -np.logaddexp(chances[rows, 2 * lengths], at_label)


def _targets(node: Node, labels: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The labels of which the loss is computed, filled up with -1, and how many there are of each sequence."""
    kept = np.arange(labels.shape[1]) < lengths[:, None]
    if node.unique:
        equal = labels[:, :, None] == labels[:, None]
        kept &= ~np.tril(equal, -1).any(axis=2)
    elif node.preprocess_collapse_repeated:
        kept[:, 1:] &= labels[:, 1:] != labels[:, :-1]
    return _moved_to_front(labels, kept)


def _shifted(chances: np.ndarray, count: int) -> np.ndarray:
    """Each chance at the place ``count`` further on."""
    moved = np.full_like(chances, -np.inf)
    moved[:, count:] = chances[:, :-count]
    return moved
