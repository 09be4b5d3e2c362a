"""What a YAML run may say, and reading one. Everything is checked before anything runs."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    Tag,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from hetero.errors import ConfigError
from hetero.files import open_regular
from hetero.run.plain_yaml import parse_yaml
from hetero.run.settings import CommandLineText, apply_setting
from hetero.run.sources import existing_file, extension_source, refuse_overwriting, writable_file


def _path(find: Callable[[str, Path], Path | str]) -> BeforeValidator:
    """What the YAML file names is seen from its folder, what the command line names from the current one."""

    def resolve(value: Any, info: ValidationInfo) -> Path | str:
        if not isinstance(value, str) or "\0" in value:
            raise ValueError(f"takes a path, not {value!r}")
        return find(value, Path() if isinstance(value, CommandLineText) else info.context["folder"])

    return BeforeValidator(resolve)


InputFile = Annotated[Path, _path(existing_file)]
OutputFile = Annotated[Path, _path(writable_file)]
ExtensionSource = Annotated[Path | str, _path(extension_source)]
Side = Annotated[int, Field(ge=1, le=65536)]  # of a picture, in pixels


# Of a YAML file, before it is read. Arrays belong into files of their own.
MAX_BYTES = 1 << 20


class Section(BaseModel):
    """Part of a run; a key that it does not know is an error that names the nearest known one."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _know_all_keys(cls, data: Any) -> Any:
        for key in data if isinstance(data, dict) else ():
            if key not in cls.model_fields:
                near = difflib.get_close_matches(str(key), cls.model_fields, n=1)
                hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(cls.model_fields)}"
                raise ValueError(f"unknown key {key}; {hint}")
        return data


class ImageInput(Section):
    """A picture as (pixel / scale - mean) / std, padded with zeros on the right up to ``min_width``."""

    image: InputFile
    height: Side | None = None
    width: Side | None = None  # with a height alone, the picture keeps its proportions
    min_width: Side = 1
    color: Literal["RGB", "BGR", "GRAY"] = "RGB"
    scale: PositiveFloat = 255
    mean: list[float] = [0]
    std: list[PositiveFloat] = [1]
    layout: Literal["NCHW", "NHWC", "CHW", "HWC"] = "NCHW"


class BytesInput(Section):
    """The bytes of a file as numbers, [1, n]; or its first and last ones, filled up with ``pad``: [1, beginning + end].

    ``strip`` takes white space off the two ends, of which at most ``block`` bytes are looked at.
    """

    file: InputFile
    beginning: NonNegativeInt | None = None
    end: NonNegativeInt | None = None
    strip: bool = False
    pad: int = 0
    block: PositiveInt = 4096

    @model_validator(mode="after")
    def _block_is_enough(self) -> BytesInput:
        if max(self.beginning or 0, self.end or 0) > self.block:
            raise ValueError(f"block is {self.block}, but must be at least as large as beginning and end")
        return self


class RandomValues(Section):
    """Seeded: normal for fractions, below 100 for whole numbers; or even between ``low`` and ``high``, if given."""

    shape: list[NonNegativeInt] | None = None  # may be left out where the model's is static
    seed: NonNegativeInt = 0
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _range_is_whole(self) -> RandomValues:
        if (self.low is None) != (self.high is None) or (self.low is not None and self.low >= self.high):
            raise ValueError("low and high go together, low below high")
        return self


class RandomInput(Section):
    random: RandomValues


class NpyInput(Section):
    npy: InputFile


class NpzInput(Section):
    npz: InputFile
    key: str | None = None  # may be left out where the file holds one array


class InlineInput(Section):
    values: Any


class TopKOutput(Section):
    """The largest values, with labels from a file of lines, or from a JSON file by the path of keys ``key``."""

    top_k: PositiveInt
    labels: InputFile | None = None
    key: str | None = None
    output: str | None = None


class CtcAlphabet(Section):
    """``characters``: a file of one character a line, or ``metadata:KEY`` of the model."""

    characters: str | Path
    blank: NonNegativeInt = 0
    space: bool = True  # whether a space follows the last character

    @model_validator(mode="before")
    @classmethod
    def _find_file(cls, data: Any, info: ValidationInfo) -> Any:
        named = data.get("characters") if isinstance(data, dict) else None
        if isinstance(named, str) and not named.startswith("metadata:"):
            folder = Path() if isinstance(named, CommandLineText) else info.context["folder"]
            return {**data, "characters": existing_file(named, folder)}
        return data


class CtcOutput(Section):
    """Text by the best class of each step, repetitions and blanks left out."""

    ctc: CtcAlphabet
    output: str | None = None


class ImageOutput(Section):
    """A picture of values from ``low``, black, to ``high``, white, of one color channel or three."""

    image: OutputFile
    low: float = 0
    high: float = 1
    layout: Literal["NHWC", "NCHW", "HWC", "CHW", "HW"] = "NHWC"
    output: str | None = None

    @model_validator(mode="after")
    def _check_range(self) -> ImageOutput:
        if not self.low < self.high:
            raise ValueError(f"low is {self.low} and high {self.high}: high must be greater")
        return self


class NpyOutput(Section):
    npy: OutputFile
    output: str | None = None


class NpzOutput(Section):
    npz: OutputFile


def _one_of(**kinds: Any) -> Any:
    """A union whose member is told by the one key that it must have."""
    tagged = [Annotated[kind, Tag(f"<{key}>")] for key, kind in kinds.items()]

    def choose(value: Any) -> str | None:
        found = [key for key in kinds if key == value or (isinstance(value, dict) and key in value)]
        return f"<{found[0]}>" if len(found) == 1 else None

    union = tagged[0]
    for other in tagged[1:]:
        union |= other
    return Annotated[union, Discriminator(choose, "kind", f"needs exactly one of {', '.join(kinds)}")]


Input = _one_of(image=ImageInput, file=BytesInput, random=RandomInput, npy=NpyInput, npz=NpzInput, values=InlineInput)
OutputKind = _one_of(
    summary=Literal["summary"], top_k=TopKOutput, ctc=CtcOutput, image=ImageOutput, npy=NpyOutput, npz=NpzOutput
)


class RunConfig(Section):
    """A whole run."""

    model: InputFile
    extensions: list[ExtensionSource] = []
    device: str
    properties: dict[str, Any] = {}
    affinities: dict[str, str] = {}
    inputs: dict[str, Input] = {}
    outputs: list[OutputKind] = Field(default=["summary"])
    iterations: PositiveInt = 1

    def files_read(self) -> list[Path]:
        """The files that the run reads, the YAML file and those that the model refers to aside."""
        return [self.model, *_paths_in([self.extensions, self.inputs, [o for o in self.outputs if not writes(o)]])]

    def files_written(self) -> list[Path]:
        return list(_paths_in([output for output in self.outputs if writes(output)]))


def writes(output: Any) -> bool:
    """Whether an output of a run is a file."""
    return isinstance(output, (ImageOutput, NpyOutput, NpzOutput))


def _paths_in(value: Any) -> Iterator[Path]:
    """All paths in a section, a list or a mapping."""
    if isinstance(value, Path):
        yield value
    parts = dict(value).values() if isinstance(value, (Section, dict)) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _paths_in(part)


def load_config(path: Path, settings: Sequence[str] = ()) -> RunConfig:
    """Read a YAML run and change it by settings such as ``device=CPU``. Raises ConfigError."""
    try:
        with open_regular(path) as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise ValueError(f"it is larger than {MAX_BYTES >> 20} MiB")
        data = parse_yaml(content.decode())
    except FileNotFoundError:
        raise ConfigError(f"there is no file {path}") from None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not a YAML file: it is not text") from None
    except ValueError as error:
        raise ConfigError(f"{path} is not a YAML file: {error}") from None
    if not isinstance(data, dict):
        raise ConfigError(f"{path} must hold keys with values: {', '.join(RunConfig.model_fields)}")
    for setting in settings:
        apply_setting(data, setting)
    try:
        config = RunConfig.model_validate(data, context={"folder": path.parent})
    except ValidationError as error:
        raise ConfigError(f"{path}: {_describe(error)}") from error
    refuse_overwriting(config.files_written(), [path, *config.files_read()])
    return config


def _describe(error: ValidationError) -> str:
    first, *others = error.errors()
    where = ".".join(str(part) for part in first["loc"] if not str(part).startswith("<"))
    what = "is missing" if first["type"] == "missing" else first["msg"].removeprefix("Value error, ")
    more = f" (and {len(others)} more)" if others else ""
    return f"{where + ': ' if where else ''}{what}{more}"
