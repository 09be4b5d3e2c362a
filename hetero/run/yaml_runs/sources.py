"""Paths in a YAML run: relative to the YAML file, or inside an installed package (``pkg://PACKAGE/PATH``)."""

from __future__ import annotations

import importlib.util
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from hetero.frontend.extension_loader import is_module_name
from hetero.system.errors import ConfigError
from hetero.system.messages import nearest

PACKAGE_SCHEME = "pkg://"


def existing_file(text: str, folder: Path) -> Path:
    """Return the path of an existing file, relative to ``folder``. Raises ConfigError if there is none."""
    path = package_file(text) if text.startswith(PACKAGE_SCHEME) else folder / os.path.expanduser(text)
    if not _is_file(path):
        raise ConfigError(f"there is no file {path}{_hint(path)}")
    return path


def extension_source(text: str, folder: Path) -> Path | str:
    """Return ``text`` itself if it is the dotted name of a module, else the path of a Python file.

    Raises ConfigError if there is no such file.
    """
    return text if is_module_name(text) else existing_file(text, folder)


def writable_file(text: str, folder: Path) -> Path:
    """Return the path of a file to write, relative to ``folder``. Raises ConfigError if its folder does not exist."""
    if text.startswith(PACKAGE_SCHEME):
        raise ConfigError(f"{text} is inside a package and cannot be written: use a path")
    path = folder / os.path.expanduser(text)
    _is_file(path)  # raises if the path is a folder or a device
    if not path.parent.is_dir():
        raise ConfigError(f"there is no folder {path.parent} to write {path.name} into")
    return path


def refuse_overwriting(written: Iterable[Path], read: Iterable[Path]) -> None:
    """Raise ConfigError if a run writes a file twice, or writes a file that it reads."""
    uses = {_identity(path): f"{path} is read" for path in read}
    for path in written:
        identity = _identity(path)
        if identity in uses:
            raise ConfigError(f"{path} cannot be written: {uses[identity]} by this run")
        uses[identity] = f"{path} is written"


def package_file(text: str) -> Path:
    """Return the path of ``pkg://package/path``, without importing the package.

    Raises ConfigError if the package is not installed or the path is outside its folder.
    """
    name, _, inside = text.removeprefix(PACKAGE_SCHEME).partition("/")
    if not name.isidentifier() or not inside:
        raise ConfigError(f"{text} is not of the form pkg://package/path/in/it")
    spec = importlib.util.find_spec(name)  # imports nothing, because the name has no dots
    if spec is None or not spec.submodule_search_locations:
        raise ConfigError(f"{text} needs the package {name}, which is not installed")
    # A namespace package has several folders.
    roots = [Path(root).resolve() for root in spec.submodule_search_locations]
    paths = [(root / inside).resolve() for root in roots]
    inner = [path for root, path in zip(roots, paths) if path.is_relative_to(root)]
    if not inner:
        raise ConfigError(f"{text} is outside the package {name}")
    return next((path for path in inner if path.exists()), inner[0])


def _is_file(path: Path) -> bool:
    """Return whether a regular file exists. Raises ConfigError for a folder, a pipe or an impossible name."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError as error:
        raise ConfigError(f"{path} cannot be a file of this run: {error.strerror}") from None
    if not stat.S_ISREG(mode):
        raise ConfigError(f"{path} is {'a folder' if stat.S_ISDIR(mode) else 'a pipe or device'}, not a file")
    return True


def _identity(path: Path) -> object:
    """Return a key that is equal for all paths of one file, whether the file exists or not."""
    try:
        status = path.stat()
        return status.st_dev, status.st_ino
    except OSError:
        return path.resolve()


def _hint(path: Path) -> str:
    try:
        others = [other.name for other in path.parent.iterdir()]
    except OSError:
        return ""
    near = nearest(path.name, others)
    return f"; {near}" if near else ""
