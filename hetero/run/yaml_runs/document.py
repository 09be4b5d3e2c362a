"""The text of a YAML run as plain data: the file, the files that it includes, and settings of the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hetero.run.settings import apply_setting
from hetero.run.yaml_runs.plain_yaml import Document, Keys, YamlError, parse_yaml
from hetero.run.yaml_runs.sources import existing_file
from hetero.system.errors import ConfigError
from hetero.system.files import open_regular

# Maximum size of a YAML file. Arrays belong in files of their own.
MAX_BYTES = 1 << 20
# Maximum number of files of one run.
MAX_FILES = 20


class RunDocument:
    """The data of a YAML run, the files that it consists of, and the source of each entry."""

    def __init__(self, path: Path, settings: Sequence[str] = ()) -> None:
        """Read a file, those that it includes, and apply settings such as ``device=CPU``. Raises ConfigError."""
        self.files: list[Path] = []
        self.data, self._places = self._read(existing_file(str(path), Path()))
        for setting in settings:
            keys = apply_setting(self.data, setting)
            kept = {entry: place for entry, place in self._places.items() if entry[: len(keys)] != keys}
            self._places = kept | {keys: f"--set {setting}"}

    def place(self, keys: Sequence[str | int]) -> str:
        """Return the source of an entry, as in ``run.yaml:3:5``, or that of the entry that should contain it."""
        names: Keys = tuple(map(str, keys))
        while names and names not in self._places:
            names = names[:-1]
        return self._places.get(names, str(self.files[0]))

    def _read(self, path: Path) -> tuple[dict[str, Any], dict[Keys, str]]:
        self.files.append(path)
        if len(self.files) > MAX_FILES:
            raise ConfigError(f"{self.files[0]} includes more than {MAX_FILES} files, or itself")
        document = _parse_file(path)
        if not isinstance(document.data, dict):
            raise ConfigError(f"{path} must be a mapping of keys such as model, device and inputs")
        data, places = self._include(document.data, document.places, ())
        models = data.get("models")
        for name, model in models.items() if isinstance(models, dict) else ():
            if isinstance(model, dict):
                data["models"][name], places = self._include(model, places, ("models", str(name)))
        return data, places

    def _include(
        self, data: dict[str, Any], places: dict[Keys, str], keys: Keys
    ) -> tuple[dict[str, Any], dict[Keys, str]]:
        """Return the data of the files under ``include``, changed by the other entries of ``data``."""
        if "include" not in data:
            return data, places
        place = places[*keys, "include"]
        names = data.pop("include")
        base: dict[str, Any] = {}
        for name in names if isinstance(names, list) else [names]:
            if not isinstance(name, str):
                raise ConfigError(f"{place}: include must be a file or a list of files, not {name!r}")
            try:
                path = existing_file(name, getattr(name, "folder", Path()))
            except ConfigError as error:
                raise ConfigError(f"{place}: {error}") from error
            included, inner = self._read(path)
            base = _merge(base, included)
            places = {(*keys, *entry): source for entry, source in inner.items()} | places
        return _merge(base, data), places


def _merge(base: Any, changes: Any) -> Any:
    """Return plain data with changes: mappings are merged, everything else is replaced."""
    if not (isinstance(base, dict) and isinstance(changes, dict)):
        return changes
    return base | {key: _merge(base.get(key), value) for key, value in changes.items()}


def _parse_file(path: Path) -> Document:
    try:
        with open_regular(path) as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise YamlError(f"it is larger than {MAX_BYTES >> 20} MiB")
        return parse_yaml(content.decode(), str(path), path.parent)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not a YAML file: it is not text") from None
    except YamlError as error:
        raise ConfigError(f"{path}{error.place}: not a YAML file: {error}") from None
