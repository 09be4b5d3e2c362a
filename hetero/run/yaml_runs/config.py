"""The schema of a YAML run. Everything that does not need the models is checked before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PositiveInt, PrivateAttr, TypeAdapter, ValidationError, model_validator

from hetero.run.yaml_runs.config_inputs import CropsInput, ImageInput, Input, source_of
from hetero.run.yaml_runs.config_outputs import OutputKind, writes
from hetero.run.yaml_runs.config_section import EntryError, ExtensionSource, InputFile, Section
from hetero.run.yaml_runs.document import RunDocument
from hetero.run.yaml_runs.sources import refuse_overwriting
from hetero.system.errors import ConfigError
from hetero.system.messages import suggest


class ModelConfig(Section):
    """A model, what it computes, and on which device."""

    model: InputFile
    extensions: list[ExtensionSource] = Field(default=[])
    device: str
    properties: dict[str, Any] = Field(default={})
    affinities: dict[str, str] = Field(default={})
    inputs: dict[str, Input] = Field(default={})
    outputs: list[OutputKind] = Field(default=["summary"])


class _Run(Section):
    """Base of runs of one model and of several."""

    iterations: PositiveInt = 1
    _document: RunDocument | None = PrivateAttr(default=None)

    def chain(self) -> Mapping[str, ModelConfig]:
        """Return the models by name, in the order of execution."""
        raise NotImplementedError

    def files_read(self) -> list[Path]:
        """Return the files that the run reads, except for files that the models refer to."""
        files = list(self._document.files) if self._document else []
        for part in self.chain().values():
            labels = [output for output in part.outputs if not writes(output)]
            files += _paths_in([part.model, part.extensions, part.inputs, labels])
        return files

    def files_written(self) -> list[Path]:
        """Return the files that the run writes."""
        return [path for part in self.chain().values() for path in _paths_in([o for o in part.outputs if writes(o)])]

    def locate(self, name: str, error: EntryError) -> ConfigError:
        """Return an error in the section of a model with its place in the YAML file."""
        keys = (*self._keys(name), *error.keys)
        text = f"{'.'.join(map(str, keys))}: {error.problem}"
        return ConfigError(f"{self._document.place(keys)}: {text}" if self._document else text)

    def _keys(self, name: str) -> tuple[str, ...]:
        """Return the path of keys of a model's section."""
        return ()


class RunConfig(ModelConfig, _Run):
    """A YAML run of one model."""

    def chain(self) -> Mapping[str, ModelConfig]:
        return {self.model.stem: self}


class ChainConfig(_Run):
    """A YAML run of several models, each of which can read the outputs of those before it.

    Entries besides ``models`` and ``iterations`` are defaults for all models.
    """

    # A dot separates the name of a model and of its output.
    models: dict[Annotated[str, Field(pattern=r"^[^.]+$")], ModelConfig] = Field(min_length=1)
    device: str | None = None
    properties: dict[str, Any] = Field(default={})
    extensions: list[ExtensionSource] = Field(default=[])

    @model_validator(mode="before")
    @classmethod
    def _apply_defaults(cls, data: Any) -> Any:
        models = data.get("models") if isinstance(data, dict) else None
        if not isinstance(models, dict):
            return data
        defaults = {key: data[key] for key in ("device", "extensions") if key in data}
        shared = data.get("properties")
        complete = {}
        for index, (name, model) in enumerate(models.items()):
            if isinstance(model, dict):
                # The outputs of models before the last one are usually of interest to other models only.
                model = defaults | ({"outputs": []} if index < len(models) - 1 else {}) | model
                if isinstance(shared, dict) and isinstance(own := model.get("properties", {}), dict):
                    model["properties"] = shared | own
            complete[name] = model
        return data | {"models": complete}

    def chain(self) -> Mapping[str, ModelConfig]:
        return self.models

    def check_sources(self) -> None:
        """Raise ConfigError if an input refers to a model that does not run before."""
        earlier: dict[str, ModelConfig] = {}
        for name, part in self.models.items():
            for key, spec in part.inputs.items():
                if not (source := source_of(spec)):
                    continue
                problem = ""
                if source.model not in earlier:
                    problem = f"no model named {source.model} runs before this one"
                    problem += f"; {suggest(source.model, earlier)}" if earlier else ""
                elif isinstance(spec, CropsInput) and not picture_of(earlier[source.model]):
                    problem = f"crops need a model that reads one picture, which {source.model} does not"
                if problem:
                    raise self.locate(name, EntryError(("inputs", key), problem))
            earlier[name] = part

    def _keys(self, name: str) -> tuple[str, ...]:
        return ("models", name)


def picture_of(model: ModelConfig) -> ImageInput | None:
    """Return the picture that a model reads, or None unless there is exactly one."""
    pictures = [spec for spec in model.inputs.values() if isinstance(spec, ImageInput)]
    return pictures[0] if len(pictures) == 1 else None


def load_config(path: Path, settings: Sequence[str] = ()) -> RunConfig | ChainConfig:
    """Read a YAML run and apply settings such as ``device=CPU``. Raises ConfigError."""
    document = RunDocument(path, settings)
    kind = ChainConfig if "models" in document.data else RunConfig
    try:
        config = kind.model_validate(document.data, context={"folder": path.parent})
    except ValidationError as error:
        raise ConfigError(_describe(error, document)) from error
    config._document = document
    if isinstance(config, ChainConfig):
        config.check_sources()
    elif sources := [key for key, spec in config.inputs.items() if source_of(spec)]:
        problem = "this input needs another model; name both models under the key models"
        raise config.locate("", EntryError(("inputs", sources[0]), problem))
    refuse_overwriting(config.files_written(), config.files_read())
    return config


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of YAML runs, for editors."""
    schema = TypeAdapter(RunConfig | ChainConfig).json_schema()
    for name in ("RunConfig", "ChainConfig", "ModelConfig"):
        section = schema["$defs"][name]
        section["properties"]["include"] = {
            "description": "Files whose entries are the defaults of this file's.",
            "anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
        }
        # Required entries may be those of an included file, and the device that of the whole chain.
        required = [key for key in section.pop("required") if (name, key) != ("ModelConfig", "device")]
        section["anyOf"] = [{"required": ["include"]}, {"required": required}]
    return schema


def _paths_in(value: Any) -> Iterator[Path]:
    """Yield all paths in a section, a list or a mapping."""
    if isinstance(value, Path):
        yield value
    parts = dict(value).values() if isinstance(value, (Section, dict)) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _paths_in(part)


def _describe(error: ValidationError, document: RunDocument) -> str:
    """Describe the first error in one line with its place, and count the others."""
    first, *others = error.errors()
    keys = [part for part in first["loc"] if not str(part).startswith("<")]
    problem = "is missing" if first["type"] == "missing" else first["msg"].removeprefix("Value error, ")
    key = ".".join(map(str, keys))
    place = document.place([*keys, *([first["ctx"]["key"]] if first["type"] == "unknown_key" else [])])
    more = f" (and {len(others)} more)" if others else ""
    return f"{place}: {key + ': ' if key else ''}{problem}{more}"
