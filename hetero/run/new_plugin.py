"""Creation of a plugin package: the files of plugin_template/ with EXAMPLE replaced by the device's name."""

from __future__ import annotations

import importlib.util
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hetero.plugin import installed_plugins
from hetero.runtime.version import Version, get_version
from hetero.system.errors import ConfigError

MAX_NAME_LENGTH = 20
# Only these files are copied: tools may leave caches in the folder.
_SUFFIXES = (".md", ".py", ".toml")
_TEMPLATE = Path(__file__).parent / "plugin_template"


@dataclass(frozen=True)
class NewPlugin:
    """The result: the device, and the folder of its package."""

    device: str
    folder: str


def new_plugin(name: str, folder: Path | None = None) -> NewPlugin:
    """Write a plugin package for a device to a new folder, by default ``hetero-NAME``.

    Raises ConfigError if the name is invalid or taken, or if the folder exists.
    """
    _check_name(name)
    folder = folder or Path(f"hetero-{name.lower().replace('_', '-')}")
    if folder.exists() or folder.is_symlink():
        raise ConfigError(f"{folder} exists already: choose another folder with --folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Written to a temporary folder and then renamed, so that a failure leaves nothing behind.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as scratch:
        package = Path(scratch) / folder.name
        for path in _TEMPLATE.rglob("*"):
            if path.suffix in _SUFFIXES:
                target = package / _rename(str(path.relative_to(_TEMPLATE)), name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(_rename(path.read_text(encoding="utf-8"), name), encoding="utf-8")
        package.rename(folder)
    return NewPlugin(name.upper(), str(folder))


def _rename(text: str, name: str) -> str:
    """Replace the template's names of the device, package, classes and distribution, and the version of hetero."""
    version = Version.parse(f"hetero {get_version()}")
    names = {
        # A plugin is made for one minor version of hetero.
        '"hetero"': f'"hetero=={version.major}.{version.minor}.*"',
        "hetero-example": f"hetero-{name.lower().replace('_', '-')}",
        "EXAMPLE": name.upper(),
        "Example": "".join(part.capitalize() for part in name.split("_")),
        "example": name.lower(),
    }
    return re.sub("|".join(names), lambda match: names[match[0]], text)


def _check_name(name: str) -> None:
    if not re.fullmatch(r"[A-Za-z]([A-Za-z0-9]|_(?=[A-Za-z0-9]))*", name) or len(name) > MAX_NAME_LENGTH:
        raise ConfigError(
            f"'{name}' is not a valid device name: use a letter, then letters, digits and single underscores, "
            f"at most {MAX_NAME_LENGTH} characters, such as NPU or my_npu"
        )
    if name.upper() in installed_plugins().devices:
        raise ConfigError(f"there is a device {name.upper()} already: choose another name")
    if importlib.util.find_spec(f"hetero_{name.lower()}"):
        raise ConfigError(f"there is a package hetero_{name.lower()} already: choose another name")
