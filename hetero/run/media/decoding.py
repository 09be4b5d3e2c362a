"""Decoding of a network's results: text, times of speech, and notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hetero.run.yaml_runs.config_outputs import Notes, Segments

_NAMES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")


def read_text(array: np.ndarray, characters: Sequence[str]) -> list[dict[str, Any]]:
    """Decode probabilities [items, steps, classes] to one text per item, by greedy CTC decoding.

    Takes the best class of each step, and removes repetitions and blanks (their character is empty). The confidence is
    the mean probability of the remaining steps. Source: Graves et al., Connectionist Temporal Classification, 2006,
    section 3.2.
    """
    if array.ndim != 3 or array.shape[2] != len(characters):
        raise ValueError(
            f"ctc needs an output of shape [items, steps, {len(characters)}], one class per character and blank, "
            f"but this is {list(array.shape)}"
        )
    lines = []
    for steps in array:
        best = steps.argmax(axis=-1)
        starts = np.append(True, best[1:] != best[:-1]) if len(best) else best.astype(bool)
        kept = [step for step in np.flatnonzero(starts) if characters[best[step]]]
        confidence = float(np.mean([steps[step, best[step]] for step in kept])) if kept else 0.0
        lines.append({"text": "".join(characters[best[step]] for step in kept), "confidence": confidence})
    return lines


def find_segments(array: np.ndarray, spec: Segments) -> list[dict[str, float]]:
    """Return where values, one for each step of time, are at least the threshold: start, end and highest value."""
    values = array.ravel()
    if array.ndim and len(values) != len(array):
        raise ValueError(f"segments needs one value per inference, but the output has the shape {list(array.shape)}")
    edges = np.flatnonzero(np.diff(np.concatenate([[False], values >= spec.threshold, [False]])))
    spans: list[list[int]] = []
    for start, end in edges.reshape(-1, 2).tolist():
        if spans and (start - spans[-1][1]) * spec.step < spec.min_gap:
            spans[-1][1] = end
        else:
            spans.append([start, end])
    return [
        {"start": start * spec.step, "end": end * spec.step, "highest": float(values[start:end].max())}
        for start, end in spans
        if (end - start) * spec.step >= spec.min_length
    ]


def find_notes(onsets: np.ndarray, activity: np.ndarray, spec: Notes) -> list[dict[str, Any]]:
    """Return the notes in probabilities [steps, pitches] that a note begins and that it sounds, by time.

    A note begins at a maximum of ``onsets`` and ends when ``activity`` stays below its threshold, or at the next note
    of its pitch.
    """
    if onsets.ndim != 2 or onsets.shape != activity.shape:
        shapes = f"{list(onsets.shape)} and {list(activity.shape)}"
        raise ValueError(f"notes needs two outputs of the shape [inferences, steps, pitches], but they have {shapes}")
    before, after = np.pad(onsets, ((1, 1), (0, 0)))[:-2], np.pad(onsets, ((1, 1), (0, 0)))[2:]
    begins = (onsets >= spec.onset_threshold) & (onsets > before) & (onsets >= after)
    gap = round(spec.max_gap / spec.step)
    notes = []
    for pitch in np.flatnonzero(begins.any(axis=0)):
        starts = np.flatnonzero(begins[:, pitch])
        for start, limit in zip(starts, [*starts[1:], len(onsets)]):
            sounding = np.flatnonzero(activity[start:limit, pitch] >= spec.threshold)
            # Indices of steps with a longer gap after them.
            pauses = np.flatnonzero(np.diff(sounding, append=limit + gap + 1) > gap + 1)
            end = start + (sounding[pauses[0]] + 1 if len(sounding) and sounding[0] <= gap else 0)
            if (end - start) * spec.step >= spec.min_length:
                midi = spec.lowest + int(pitch)
                notes.append({
                    "start": float(start * spec.step), "end": float(end * spec.step), "midi": midi,
                    "name": f"{_NAMES[midi % 12]}{midi // 12 - 1}",
                    "strength": float(activity[start:end, pitch].mean()),
                })  # fmt: skip
    return sorted(notes, key=lambda note: (note["start"], note["midi"]))
