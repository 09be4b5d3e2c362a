"""Base of the sections of a YAML run: their keys, paths and errors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from hetero.run.yaml_runs.plain_yaml import LocatedText
from hetero.run.yaml_runs.sources import existing_file, extension_source, writable_file
from hetero.system.errors import ConfigError
from hetero.system.messages import suggest


class EntryError(ConfigError):
    """A problem of the entry at ``keys``, the path of keys and indices from the top of its model's section."""

    def __init__(self, keys: tuple[str | int, ...], problem: object) -> None:
        super().__init__(f"{'.'.join(map(str, keys))}: {problem}")
        self.keys, self.problem = keys, str(problem)


def path_found_by(find: Callable[[str, Path], Path | str]) -> BeforeValidator:
    """Return a validator that resolves a path by ``find(text, folder)``, with the folder of the text's file."""

    def resolve(value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, list):
            return value  # the type of the field accepts or rejects it
        if not isinstance(value, str) or "\0" in value:
            raise ValueError(f"must be a path, not {value!r}")
        folder = value.folder if isinstance(value, LocatedText) else (info.context or {})["folder"]
        return find(value, folder)

    return BeforeValidator(resolve)


InputFile = Annotated[Path, path_found_by(existing_file)]
OutputFile = Annotated[Path, path_found_by(writable_file)]
ExtensionSource = Annotated[Path | str, path_found_by(extension_source)]
Side = Annotated[int, Field(ge=1, le=65536)]  # of a picture, in pixels


class Section(BaseModel):
    """Base of the sections of a run. An unknown key is an error that names the most similar key."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    @model_validator(mode="before")
    @classmethod
    def _reject_unknown_keys(cls, data: Any) -> Any:
        known = [field.alias or name for name, field in cls.model_fields.items()]
        for key in data if isinstance(data, dict) else ():
            if key not in known:
                # The key is in the context, so that the error is located at the key.
                raise PydanticCustomError("unknown_key", "{problem}", {
                    "problem": f"unknown key {key}; {suggest(key, known)}", "key": str(key)
                })  # fmt: skip
        return data


def one_of(*keys: str) -> Discriminator:
    """Return the discriminator of a union whose members are tagged by the one key that the data has."""

    def choose(value: Any) -> str | None:
        matches = [key for key in keys if key == value or (isinstance(value, dict) and key in value)]
        return f"<{matches[0]}>" if len(matches) == 1 else None

    return Discriminator(choose, "kind", f"needs exactly one of {', '.join(keys)}")
