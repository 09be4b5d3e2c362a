"""A new plugin package: the files of plugin_template/, with the name of the device in the place of EXAMPLE."""

from __future__ import annotations

import importlib.util
import re
import tempfile
from pathlib import Path

from hetero.errors import ConfigError
from hetero.plugin import installed_plugins

LONGEST_NAME = 20
# What else may lie there are caches of tools.
_SUFFIXES = (".md", ".py", ".toml")
_TEMPLATE = Path(__file__).parent / "plugin_template"


def new_plugin(name: str, folder: Path | None = None) -> Path:
    """Write a package for a device of this name to a folder that is not there yet, by default ``hetero-NAME``.

    Returns the folder. Raises ConfigError for a name that cannot be or is taken, and where the folder exists.
    """
    _check_name(name)
    folder = folder or Path(f"hetero-{name.lower().replace('_', '-')}")
    if folder.exists() or folder.is_symlink():
        raise ConfigError(f"{folder} exists already: give the package another folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Made beside it and then moved, so that nothing half-written is left behind.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as scratch:
        made = Path(scratch) / folder.name
        for path in _TEMPLATE.rglob("*"):
            if path.suffix in _SUFFIXES:
                target = made / _renamed(str(path.relative_to(_TEMPLATE)), name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(_renamed(path.read_text(encoding="utf-8"), name), encoding="utf-8")
        made.rename(folder)
    return folder


def _renamed(text: str, name: str) -> str:
    """The text with the device, its package, its classes and its distribution called by the name."""
    names = {
        "hetero-example": f"hetero-{name.lower().replace('_', '-')}",
        "EXAMPLE": name.upper(),
        "Example": "".join(part.capitalize() for part in name.split("_")),
        "example": name.lower(),
    }
    return re.sub("|".join(names), lambda found: names[found[0]], text)


def _check_name(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z]([A-Za-z0-9]|_(?=[A-Za-z0-9]))*", name) or len(name) > LONGEST_NAME:
        raise ConfigError(
            f"'{name}' cannot be a device's name: it takes a letter, then letters, digits and single underscores, "
            f"{LONGEST_NAME} characters at most, such as NPU or my_npu"
        )
    if name.upper() in installed_plugins().devices:
        raise ConfigError(f"there is a device {name.upper()} already: choose another name")
    if importlib.util.find_spec(f"hetero_{name.lower()}"):
        raise ConfigError(f"there is a package hetero_{name.lower()} already: choose another name")
