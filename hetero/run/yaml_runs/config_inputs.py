"""The kinds of inputs in a YAML run."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, Tag, model_validator

from hetero.run.yaml_runs.config_section import InputFile, Section, Side, one_of


class PictureOptions(Section):
    """The conversion of a picture to an array: (pixel / scale - mean) / std, padded on the right to ``min_width``."""

    height: Side | None = None
    width: Side | None = None  # with only a height or a width, the picture keeps its aspect ratio
    multiple: Side = 1  # of which a side that is not given is rounded to a multiple
    min_width: Side = 1
    color: Literal["RGB", "BGR", "GRAY"] = "RGB"
    scale: PositiveFloat = 255
    mean: list[float] = Field(default=[0])
    std: list[PositiveFloat] = Field(default=[1])
    layout: Literal["NCHW", "NHWC", "CHW", "HWC"] = "NCHW"


class ImageInput(PictureOptions):
    """A picture."""

    image: InputFile


class TextRegions(Section):
    """Regions of text in the picture that another model was given, in reading order.

    ``from`` is the model that computed, for each pixel, the probability that it belongs to text. A region is a set of
    connected pixels above ``threshold``, with a mean of at least ``min_score``. Its rectangle grows on each side by
    ``expand`` times its area divided by its perimeter, because detectors are trained to find shrunk regions.
    """

    source: str = Field(alias="from")
    threshold: float = 0.3
    min_score: float = 0.5
    expand: NonNegativeFloat = 1.6


class CropsInput(PictureOptions):
    """Parts of the picture that another model was given: one inference for each."""

    crops: TextRegions


class ModelInput(Section):
    """An output of another model, ``MODEL`` or ``MODEL.OUTPUT``: one inference for each of that model."""

    source: str = Field(alias="from")


class PreviousInput(Section):
    """An output of the inference before; zeros of ``shape`` for the first inference."""

    previous: str
    shape: list[NonNegativeInt] | None = None  # optional if the model's shape is static


# Maximum number of samples of a sound, after conversion to another rate.
MAX_SAMPLES = 1 << 28
Samples = Annotated[int, Field(ge=1, le=MAX_SAMPLES)]


class SoundInput(Section):
    """A wav file as numbers from -1 to 1, with the mean of its channels, converted to ``rate`` samples per second.

    ``chunk`` is the number of samples of one inference, by default all of them. Chunks begin ``step`` samples apart,
    the first one ``before`` samples before the sound. The last one contains the end of the sound, and zeros after it.
    """

    sound: InputFile
    rate: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    chunk: Samples | None = None
    step: Samples | None = None  # as large as a chunk by default
    before: Annotated[int, Field(ge=0, le=MAX_SAMPLES)] = 0
    layout: Literal["NT", "NTC", "NCT", "T"] = "NT"  # T are the samples

    @model_validator(mode="after")
    def _check_step(self) -> SoundInput:
        if self.step and not (self.chunk and self.step <= self.chunk):
            raise ValueError(f"step is {self.step}, but must be at most chunk")
        return self


class BytesInput(Section):
    """The bytes of a file as numbers [1, n], or its first and last bytes [1, beginning + end].

    ``pad`` fills missing bytes. ``strip`` removes white space at both ends, where at most ``block`` bytes are read.
    """

    file: InputFile
    beginning: NonNegativeInt | None = None
    end: NonNegativeInt | None = None
    strip: bool = False
    pad: int = 0
    block: PositiveInt = 4096

    @model_validator(mode="after")
    def _check_block(self) -> BytesInput:
        if max(self.beginning or 0, self.end or 0) > self.block:
            raise ValueError(f"block is {self.block}, but must be at least beginning and end")
        return self


class RandomValues(Section):
    """Random numbers from a seed.

    By default normally distributed for real types, and 0 to 99 for integers. With ``low`` and ``high``, uniform in
    [low, high).
    """

    shape: list[NonNegativeInt] | None = None  # optional if the model's shape is static
    seed: NonNegativeInt = 0
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _check_range(self) -> RandomValues:
        bounds = [bound for bound in (self.low, self.high) if bound is not None]
        if len(bounds) == 1 or bounds != sorted(set(bounds)):
            raise ValueError("low and high must be given together, with low < high")
        return self


class RandomInput(Section):
    random: RandomValues


class NpyInput(Section):
    npy: InputFile


class NpzInput(Section):
    npz: InputFile
    key: str | None = None  # optional if the file has only one array


class InlineInput(Section):
    values: Any


Input = Annotated[
    Annotated[ImageInput, Tag("<image>")] | Annotated[CropsInput, Tag("<crops>")]
    | Annotated[SoundInput, Tag("<sound>")] | Annotated[BytesInput, Tag("<file>")]
    | Annotated[RandomInput, Tag("<random>")] | Annotated[NpyInput, Tag("<npy>")]
    | Annotated[NpzInput, Tag("<npz>")] | Annotated[InlineInput, Tag("<values>")]
    | Annotated[ModelInput, Tag("<from>")] | Annotated[PreviousInput, Tag("<previous>")],
    one_of("image", "crops", "sound", "file", "random", "npy", "npz", "values", "from", "previous"),
]  # fmt: skip


class Source(NamedTuple):
    """An output of another model; the first one if its name is None."""

    model: str
    output: str | None


def source_of(spec: Any) -> Source | None:
    """Return the output of another model that an input reads, or None."""
    text = spec.crops.source if isinstance(spec, CropsInput) else spec.source if isinstance(spec, ModelInput) else None
    if text is None:
        return None
    model, _, output = text.partition(".")
    return Source(model, output or None)
