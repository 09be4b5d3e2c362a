"""Files that a YAML run names: relative to the YAML file, or inside an installed package."""

from __future__ import annotations

import difflib
import importlib.util
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from hetero.errors import ConfigError
from hetero.frontend.extension_loader import is_module_name

PACKAGE_SCHEME = "pkg://"


def existing_file(text: str, folder: Path) -> Path:
    """The file that ``text`` names, seen from a folder. Raises ConfigError when there is none."""
    path = package_file(text) if text.startswith(PACKAGE_SCHEME) else folder / os.path.expanduser(text)
    if not _is_there(path):
        raise ConfigError(f"there is no file {path}{_hint(path)}")
    return path


def extension_source(text: str, folder: Path) -> Path | str:
    """The Python file that ``text`` names, seen from a folder, or the dotted name of a module that it is.

    Raises ConfigError where there is no such file.
    """
    return text if is_module_name(text) else existing_file(text, folder)


def writable_file(text: str, folder: Path) -> Path:
    """The file to write that ``text`` names, seen from a folder. Raises ConfigError where its folder is not there."""
    if text.startswith(PACKAGE_SCHEME):
        raise ConfigError(f"{text} lies in a package, where nothing is written: name a path")
    path = folder / os.path.expanduser(text)
    _is_there(path)
    if not path.parent.is_dir():
        raise ConfigError(f"there is no folder {path.parent} to write {path.name} into")
    return path


def refuse_overwriting(written: Iterable[Path], read: Iterable[Path]) -> None:
    """Raise ConfigError if a file is written twice, or is one of those that are read."""
    taken = {_identity(path): f"{path} is read" for path in read}
    for path in written:
        identity = _identity(path)
        if identity in taken:
            raise ConfigError(f"{path} cannot be written: {taken[identity]} by this run")
        taken[identity] = f"{path} is written"


def package_file(text: str) -> Path:
    """The path that ``pkg://package/path`` means; the package is found, but not imported.

    Raises ConfigError when the package is not installed or the path leads out of its folder.
    """
    name, _, inside = text.removeprefix(PACKAGE_SCHEME).partition("/")
    if not name.isidentifier() or not inside:
        raise ConfigError(f"{text} is not of the form pkg://package/path/in/it")
    found = importlib.util.find_spec(name)  # of a name without dots this imports nothing
    if found is None or not found.submodule_search_locations:
        raise ConfigError(f"{text} needs the package {name}, which is not installed")
    # A namespace package has several folders.
    roots = [Path(root).resolve() for root in found.submodule_search_locations]
    paths = [(root / inside).resolve() for root in roots]
    inner = [path for root, path in zip(roots, paths) if path.is_relative_to(root)]
    if not inner:
        raise ConfigError(f"{text} leads out of the package {name}")
    return next((path for path in inner if path.exists()), inner[0])


def _is_there(path: Path) -> bool:
    """Return whether there is a regular file. Raises ConfigError for a folder, a pipe or an impossible name."""
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
    """What paths of one file have in common, whether it exists or not."""
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
    near = difflib.get_close_matches(path.name, others, n=1)
    return f"; did you mean {near[0]}?" if near else ""
