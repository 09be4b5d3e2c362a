"""Times of speech and notes, compared with those that the arrays were made from."""

import numpy as np
import pytest

from hetero.run.media.decoding import find_notes, find_segments
from hetero.run.yaml_runs.config_outputs import Notes, Segments

STEP = 0.25


def times(rows):
    return [(row["start"], row["end"]) for row in rows]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [(0.25, 0.75), (1, 1.25), (2.25, 3)]),
        ({"min_gap": 0.3}, [(0.25, 1.25), (2.25, 3)]),
        ({"min_length": 0.5}, [(0.25, 0.75), (2.25, 3)]),
        ({"min_gap": 0.3, "min_length": 0.9}, [(0.25, 1.25)]),
        ({"threshold": 0.95}, [(2.5, 2.75)]),
    ],
)
def test_segments(options, expected):
    values = np.float32([0, 0.9, 0.5, 0.2, 0.6, 0, 0, 0, 0, 0.7, 1, 0.7])[:, None]
    assert times(find_segments(values, Segments(step=STEP, **options))) == expected


def test_segments_need_one_value_per_inference():
    with pytest.raises(ValueError, match=r"one value per inference, but the output has the shape \[3, 2\]"):
        find_segments(np.zeros((3, 2)), Segments(step=STEP))


def roll(*notes, steps=40):
    """Return onsets and activity, [steps, 88], of notes (pitch, start, end)."""
    onsets, activity = np.zeros((2, steps, 88), np.float32)
    for pitch, start, end in notes:
        onsets[start, pitch] = 0.9
        activity[start:end, pitch] = 0.8
    return onsets, activity


def spec(**options):
    return Notes(onsets="a", activity="b", step=STEP, max_gap=0.5, min_length=0.5, **options)


def test_notes():
    onsets, activity = roll((39, 4, 10), (43, 4, 12), (39, 10, 20), (48, 30, 40), (60, 20, 21))
    found = find_notes(onsets, activity, spec())
    assert [(n["name"], n["midi"]) for n in found] == [("C4", 60), ("E4", 64), ("C4", 60), ("A4", 69)]
    assert times(found) == [(1, 2.5), (1, 3), (2.5, 5), (7.5, 10)]
    assert all(note["strength"] == pytest.approx(0.8) for note in found)


@pytest.mark.parametrize(("pause", "end"), [(2, 20), (3, 10)])
def test_short_pauses_do_not_end_a_note(pause, end):
    onsets, activity = roll((39, 4, 20))
    activity[10 : 10 + pause, 39] = 0
    assert times(find_notes(onsets, activity, spec())) == [(4 * STEP, end * STEP)]


def test_onset_without_a_sound_is_no_note():
    onsets, activity = roll((39, 4, 20))
    assert find_notes(onsets, np.zeros_like(activity), spec()) == []
    assert find_notes(onsets, np.roll(activity, 10, axis=0), spec()) == []


def test_notes_need_outputs_of_one_shape():
    with pytest.raises(ValueError, match=r"two outputs of the shape .* \[40, 88\] and \[40, 3\]"):
        find_notes(np.zeros((40, 88)), np.zeros((40, 3)), spec())
