"""The kinds of outputs in a YAML run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, Tag, model_validator

from hetero.run.yaml_runs.config_section import OutputFile, Section, one_of, path_found_by
from hetero.run.yaml_runs.sources import existing_file


class TopKOutput(Section):
    """The largest values.

    ``labels``: a list, a text file with one label per line, or a JSON file with a list at the dotted path ``key``.
    """

    top_k: PositiveInt
    labels: Annotated[list[str] | Path, path_found_by(existing_file)] | None = None
    key: str | None = None
    output: str | None = None


def _alphabet(text: str, folder: Path) -> Path | str:
    return text if text.startswith("metadata:") else existing_file(text, folder)


class CtcAlphabet(Section):
    """The characters of a recognizer: a file with one character per line, or ``metadata:KEY`` of the model."""

    characters: Annotated[Path | str, path_found_by(_alphabet)]
    blank: NonNegativeInt = 0
    space: bool = True  # whether a space is appended to the characters


class CtcOutput(Section):
    """Text by greedy CTC decoding: the best class of each step, without repetitions and blanks."""

    ctc: CtcAlphabet
    output: str | None = None


class ImageOutput(Section):
    """A picture with one or three color channels. ``low`` becomes black, ``high`` white."""

    image: OutputFile
    low: float = 0
    high: float = 1
    layout: Literal["NHWC", "NCHW", "HWC", "CHW", "HW"] = "NHWC"
    output: str | None = None

    @model_validator(mode="after")
    def _check_range(self) -> ImageOutput:
        if not self.low < self.high:
            raise ValueError(f"low is {self.low} and high is {self.high}, but low must be less than high")
        return self


class NpyOutput(Section):
    """One output as an npy file."""

    npy: OutputFile
    output: str | None = None


class NpzOutput(Section):
    """All outputs as an npz file."""

    npz: OutputFile


class Segments(Section):
    """Where a sequence of values is at least ``threshold``. All times are in seconds.

    ``step`` is the time from one value to the next. Segments with gaps below ``min_gap`` are joined, and those shorter
    than ``min_length`` are left out.
    """

    step: PositiveFloat
    threshold: float = 0.5
    min_gap: NonNegativeFloat = 0
    min_length: NonNegativeFloat = 0


class SegmentsOutput(Section):
    """Times in which an output with one value per inference is high, such as the times of speech in a sound."""

    segments: Segments
    output: str | None = None


class Notes(Section):
    """Notes of music, from two outputs [1, steps, pitches]: the probability that a note begins, and that it sounds.

    All times are in seconds; ``step`` is the time from one step to the next. ``margin`` is the number of steps at both
    ends of each inference that are left out. Notes shorter than ``min_length`` are left out, and gaps up to
    ``max_gap`` do not end a note. ``lowest`` is the MIDI number of the first pitch.
    """

    onsets: str
    activity: str
    step: PositiveFloat
    margin: NonNegativeInt = 0
    onset_threshold: float = 0.5
    threshold: float = 0.3
    max_gap: NonNegativeFloat = 0.12
    min_length: NonNegativeFloat = 0.12
    lowest: NonNegativeInt = 21


class NotesOutput(Section):
    """Notes of music, with the times at which they begin and end."""

    notes: Notes


def writes(output: Any) -> bool:
    """Return whether an output of a run is a file."""
    return isinstance(output, (ImageOutput, NpyOutput, NpzOutput))


OutputKind = Annotated[
    Annotated[Literal["summary"], Tag("<summary>")] | Annotated[TopKOutput, Tag("<top_k>")]
    | Annotated[CtcOutput, Tag("<ctc>")] | Annotated[SegmentsOutput, Tag("<segments>")]
    | Annotated[NotesOutput, Tag("<notes>")]
    | Annotated[ImageOutput, Tag("<image>")] | Annotated[NpyOutput, Tag("<npy>")] | Annotated[NpzOutput, Tag("<npz>")],
    one_of("summary", "top_k", "ctc", "segments", "notes", "image", "npy", "npz"),
]  # fmt: skip
