"""The schema of a YAML run, and its parser. Everything is checked before anything runs."""

from __future__ import annotations

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
from hetero.messages import suggest
from hetero.run.plain_yaml import parse_yaml
from hetero.run.settings import CommandLineText, apply_setting
from hetero.run.sources import existing_file, extension_source, refuse_overwriting, writable_file


def _path(find: Callable[[str, Path], Path | str]) -> BeforeValidator:
    """Return a validator that resolves a path by ``find(text, folder)``.

    Paths in the YAML file are relative to its folder, paths on the command line to the current folder.
    """

    def resolve(value: Any, info: ValidationInfo) -> Path | str:
        if not isinstance(value, str) or "\0" in value:
            raise ValueError(f"must be a path, not {value!r}")
        folder = Path() if isinstance(value, CommandLineText) else (info.context or {})["folder"]
        return find(value, folder)

    return BeforeValidator(resolve)


InputFile = Annotated[Path, _path(existing_file)]
OutputFile = Annotated[Path, _path(writable_file)]
ExtensionSource = Annotated[Path | str, _path(extension_source)]
Side = Annotated[int, Field(ge=1, le=65536)]  # of a picture, in pixels


# Maximum size of a YAML file. Arrays belong in files of their own.
MAX_BYTES = 1 << 20


class Section(BaseModel):
    """Base of the sections of a run. An unknown key is an error that names the most similar key."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _reject_unknown_keys(cls, data: Any) -> Any:
        for key in data if isinstance(data, dict) else ():
            if key not in cls.model_fields:
                raise ValueError(f"unknown key {key}; {suggest(key, cls.model_fields)}")
        return data


class ImageInput(Section):
    """A picture as (pixel / scale - mean) / std, padded with zeros on the right to ``min_width``."""

    image: InputFile
    height: Side | None = None
    width: Side | None = None  # with only a height or a width, the picture keeps its aspect ratio
    min_width: Side = 1
    color: Literal["RGB", "BGR", "GRAY"] = "RGB"
    scale: PositiveFloat = 255
    mean: list[float] = [0]
    std: list[PositiveFloat] = [1]
    layout: Literal["NCHW", "NHWC", "CHW", "HWC"] = "NCHW"


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


class TopKOutput(Section):
    """The largest values.

    ``labels``: a text file with one label per line, or a JSON file with a list of labels at the dotted path ``key``.
    """

    top_k: PositiveInt
    labels: InputFile | None = None
    key: str | None = None
    output: str | None = None


def _alphabet(text: str, folder: Path) -> Path | str:
    return text if text.startswith("metadata:") else existing_file(text, folder)


class CtcAlphabet(Section):
    """The characters of a recognizer: a file with one character per line, or ``metadata:KEY`` of the model."""

    characters: Annotated[Path | str, _path(_alphabet)]
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


def _one_of(*keys: str) -> Discriminator:
    """Return the discriminator of a union whose members are tagged by the one key that the data has."""

    def choose(value: Any) -> str | None:
        found = [key for key in keys if key == value or (isinstance(value, dict) and key in value)]
        return f"<{found[0]}>" if len(found) == 1 else None

    return Discriminator(choose, "kind", f"needs exactly one of {', '.join(keys)}")


Input = Annotated[
    Annotated[ImageInput, Tag("<image>")] | Annotated[BytesInput, Tag("<file>")]
    | Annotated[RandomInput, Tag("<random>")] | Annotated[NpyInput, Tag("<npy>")]
    | Annotated[NpzInput, Tag("<npz>")] | Annotated[InlineInput, Tag("<values>")],
    _one_of("image", "file", "random", "npy", "npz", "values"),
]  # fmt: skip
OutputKind = Annotated[
    Annotated[Literal["summary"], Tag("<summary>")] | Annotated[TopKOutput, Tag("<top_k>")]
    | Annotated[CtcOutput, Tag("<ctc>")] | Annotated[ImageOutput, Tag("<image>")]
    | Annotated[NpyOutput, Tag("<npy>")] | Annotated[NpzOutput, Tag("<npz>")],
    _one_of("summary", "top_k", "ctc", "image", "npy", "npz"),
]  # fmt: skip


class RunConfig(Section):
    """A complete YAML run."""

    model: InputFile
    extensions: list[ExtensionSource] = []
    device: str
    properties: dict[str, Any] = {}
    affinities: dict[str, str] = {}
    inputs: dict[str, Input] = {}
    outputs: list[OutputKind] = Field(default=["summary"])
    iterations: PositiveInt = 1

    def files_read(self) -> list[Path]:
        """Return the files that the run reads, except for the YAML file and files that the model refers to."""
        return [self.model, *_paths_in([self.extensions, self.inputs, [o for o in self.outputs if not writes(o)]])]

    def files_written(self) -> list[Path]:
        """Return the files that the run writes."""
        return list(_paths_in([output for output in self.outputs if writes(output)]))


def writes(output: Any) -> bool:
    """Return whether an output of a run is a file."""
    return isinstance(output, (ImageOutput, NpyOutput, NpzOutput))


def _paths_in(value: Any) -> Iterator[Path]:
    """Yield all paths in a section, a list or a mapping."""
    if isinstance(value, Path):
        yield value
    parts = dict(value).values() if isinstance(value, (Section, dict)) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _paths_in(part)


def load_config(path: Path, settings: Sequence[str] = ()) -> RunConfig:
    """Read a YAML run and apply settings such as ``device=CPU``. Raises ConfigError."""
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
        raise ConfigError(f"{path} must be a mapping with the keys {', '.join(RunConfig.model_fields)}")
    for setting in settings:
        apply_setting(data, setting)
    try:
        config = RunConfig.model_validate(data, context={"folder": path.parent})
    except ValidationError as error:
        raise ConfigError(f"{path}: {_describe(error)}") from error
    refuse_overwriting(config.files_written(), [path, *config.files_read()])
    return config


def _describe(error: ValidationError) -> str:
    """Describe the first error in one line, and count the others."""
    first, *others = error.errors()
    key = ".".join(str(part) for part in first["loc"] if not str(part).startswith("<"))
    problem = "is missing" if first["type"] == "missing" else first["msg"].removeprefix("Value error, ")
    more = f" (and {len(others)} more)" if others else ""
    return f"{key + ': ' if key else ''}{problem}{more}"
