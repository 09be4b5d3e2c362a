"""Connectionist temporal classification (CTC), vectorized over the batch."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.reference.registry import Array, evaluates


@evaluates(ops.CTCGreedyDecoder, in_f32=True)
def ctc_greedy_decoder(node: ops.CTCGreedyDecoder, scores: Array, mask: Array) -> Array:
    active = np.logical_and.accumulate(mask != 0, axis=0).T
    labels, _ = _decode(scores.transpose(1, 0, 2), active, scores.shape[2] - 1, node.merge_repeated)
    return labels[..., None, None]


@evaluates(ops.CTCGreedyDecoderSeqLen, in_f32=True)
def ctc_greedy_decoder_seq_len(
    node: ops.CTCGreedyDecoderSeqLen, scores: Array, lengths: Array, blank: Array | None = None
) -> tuple[Array, ...]:
    active = np.arange(scores.shape[1]) < lengths[:, None]
    return _decode(scores, active, _blank(blank, scores), node.merge_repeated)


def _blank(blank: Array | None, scores: Array) -> int:
    return scores.shape[2] - 1 if blank is None else int(blank.reshape(-1)[0])


def _decode(scores: Array, active: Array, blank: int, merge: bool) -> tuple[Array, Array]:
    """Return the labels ``[batch, time]``, padded with -1, and their number for each sequence."""
    best = scores.argmax(axis=2)
    kept = active & (best != blank)
    if merge:
        kept[:, 1:] &= best[:, 1:] != best[:, :-1]
    return _compact(best, kept)


def _compact(values: Array, kept: Array) -> tuple[Array, Array]:
    """Move the kept elements of each row to its front, padded with -1; also return their number."""
    result = np.full(values.shape, -1, np.int64)
    rows, columns = np.nonzero(kept)
    result[rows, kept.cumsum(axis=1)[rows, columns] - 1] = values[rows, columns]
    return result, kept.sum(axis=1)


@evaluates(ops.CTCLoss, in_f32=True)
def ctc_loss(
    node: ops.CTCLoss, logits: Array, steps: Array, labels: Array, lengths: Array, blank: Array | None = None
) -> Array:
    """Compute the forward variables of Graves et al., Connectionist Temporal Classification (2006), section 4.1."""
    if (steps > logits.shape[1]).any() or (lengths > steps).any():
        raise ValueError(f"there are {lengths} labels for {steps} of {logits.shape[1]} steps")
    labels, lengths = _targets(node, labels, lengths)
    path = np.full((len(labels), 2 * labels.shape[1] + 1), _blank(blank, logits))
    path[:, 1::2] = labels.clip(0)
    logits = logits.astype(np.float64)
    logits = logits - logits.max(axis=2, keepdims=True)
    scores = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
    is_label = np.arange(path.shape[1]) % 2 == 1
    # A transition that skips the blank between equal labels is not allowed if they would be merged into one.
    can_skip = is_label & (path != np.roll(path, 2, axis=1)) if node.ctc_merge_repeated else is_label
    stay = np.where(is_label & (not node.ctc_merge_repeated), -np.inf, 0)
    forward = np.full(path.shape, -np.inf)  # log probabilities
    forward[:, 0] = 0
    for step in range(logits.shape[1]):
        skipped = np.where(can_skip, _shifted(forward, 2), -np.inf)
        reached = np.logaddexp(np.logaddexp(forward + stay, _shifted(forward, 1)), skipped)
        reached += np.take_along_axis(scores[:, step], path, axis=1)
        forward = np.where((step < steps)[:, None], reached, forward)
    rows = np.arange(len(labels))
    at_label = np.where(lengths > 0, forward[rows, 2 * lengths - 1], -np.inf)
    return -np.logaddexp(forward[rows, 2 * lengths], at_label)


def _targets(node: ops.CTCLoss, labels: Array, lengths: Array) -> tuple[Array, Array]:
    """Return the labels after removing duplicates, padded with -1, and their number for each sequence."""
    kept = np.arange(labels.shape[1]) < lengths[:, None]
    if node.unique:
        equal = labels[:, :, None] == labels[:, None]
        kept &= ~np.tril(equal, -1).any(axis=2)
    elif node.preprocess_collapse_repeated:
        kept[:, 1:] &= labels[:, 1:] != labels[:, :-1]
    return _compact(labels, kept)


def _shifted(forward: Array, count: int) -> Array:
    """Shift each row by ``count`` positions, filling with -inf."""
    shifted = np.full_like(forward, -np.inf)
    shifted[:, count:] = forward[:, :-count]
    return shifted
