"""The structure of the source: ``python -m tests.structure`` prints it, and tests/test_layers.py holds it.

Counts the modules of each folder, the logical lines of each room (tokens NEWLINE less docstrings), the names that
several classes share, and the imports against the order of the layers in docs/development/architecture.md. Exits with 1
if a limit is exceeded.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
ARCHITECTURE = ROOT / "docs/development/architecture.md"
# Maximum number of modules in one folder, and in hetero/ itself.
MOST_MODULES, MOST_TOP_MODULES = 15, 12
# The folders of the packages, with the folders of packages that they contain.
PACKAGES = {"hetero": ROOT, **{path.name: path.parent for path in sorted(ROOT.glob("plugins/*/hetero_*"))}}
# Modules that only export names of others, so that they belong to no layer.
FACADES = {"__init__", "__main__"}
# The names that OpenVINO gives to two classes: of the plugin API and the runtime, of elements and devices, of packages
# and files.
SHARED_NAMES = {"CompiledModel", "InferRequest", "Type", "Version"}


class Import(NamedTuple):
    """An import of ``module`` in a file."""

    path: Path
    line: int
    module: str


@cache
def source_files(package: str) -> list[Path]:
    """Return the modules of a package. The template of a plugin is text, not code of the package."""
    paths = sorted((PACKAGES[package] / package).rglob("*.py"))
    return [path for path in paths if "plugin_template" not in path.parts]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def logical_lines(path: Path) -> int:
    """Return the number of NEWLINE tokens less docstrings."""
    text = path.read_text(encoding="utf-8")
    lines = sum(token.type == tokenize.NEWLINE for token in tokenize.generate_tokens(io.StringIO(text).readline))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = (node for node in ast.walk(tree_of(path)) if isinstance(node, documented))
    return lines - sum(ast.get_docstring(node, clean=False) is not None for node in nodes)


def imports_of(path: Path) -> Iterator[Import]:
    """Yield every import of a file, also those in functions and under TYPE_CHECKING: modules, or names in them."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (Import(path, node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (Import(path, node.lineno, alias.name) for alias in node.names)


def layers() -> dict[str, list[str]]:
    """Return the layers of each room that has an order, from bottom to top, as the page about the architecture has it.

    The page has them in a block of lines ``room: layer < layer < layer``.
    """
    block = re.search(r"```layers\n(.*?)```", ARCHITECTURE.read_text(encoding="utf-8"), re.DOTALL)
    assert block is not None, f"{ARCHITECTURE} has no block of layers"
    orders = defaultdict(list)
    for line in block[1].splitlines():
        room, _, names = line.partition(":")
        orders[room.strip()] += [name.strip() for name in names.split("<")]
    return dict(orders)


def module_name(path: Path) -> str:
    """Return the dotted name of a source file; a package's is that of its ``__init__``."""
    package = next(name for name, folder in PACKAGES.items() if path.is_relative_to(folder / name))
    return ".".join(path.relative_to(PACKAGES[package]).with_suffix("").parts)


def layer_in(room: str, module: str) -> str | None:
    """Return the layer of a module in a room, or None if the module is not in it."""
    return module.removeprefix(f"{room}.").partition(".")[0] if module.startswith(f"{room}.") else None


def imports_against_order(room: str, order: list[str]) -> list[str]:
    """Return the imports of a room's modules from layers above their own, and the modules that are in no layer."""
    problems = []
    files = {path: layer_in(room, module_name(path)) for path in source_files(room.partition(".")[0])}
    # What hetero/ has besides its layers only names what these have, and is above them.
    names = {layer for layer in files.values() if layer and layer not in order} - FACADES if room == "hetero" else set()
    for path, layer in files.items():
        if layer is None or layer in FACADES | names:
            continue
        if layer not in order:
            problems.append(f"{path.relative_to(ROOT)} is in no layer of {room}")
            continue
        above = {*order[order.index(layer) + 1 :], *names}
        for entry in imports_of(path):
            if layer_in(room, entry.module) in above:
                problems.append(f"{path.relative_to(ROOT)}:{entry.line} imports {entry.module}, above {room}.{layer}")
    return problems


def modules_by_folder() -> Counter[Path]:
    return Counter(path.parent.relative_to(ROOT) for package in PACKAGES for path in source_files(package))


def crowded_folders() -> list[str]:
    """Return the folders with more modules than a folder may have."""
    limits = defaultdict(lambda: MOST_MODULES, {Path("hetero"): MOST_TOP_MODULES})
    counts = modules_by_folder().items()
    return [f"{folder} has {count} modules" for folder, count in sorted(counts) if count > limits[folder]]


def shared_class_names() -> list[str]:
    """Return the class names that a package has more than once, but for those that OpenVINO has twice."""
    shared = []
    for package in PACKAGES:
        places = defaultdict(list)
        for path in source_files(package):
            for node in ast.walk(tree_of(path)):
                if isinstance(node, ast.ClassDef):
                    places[node.name].append(str(path.relative_to(ROOT)))
        repeated = ((name, paths) for name, paths in sorted(places.items()) if len(paths) > 1)
        shared += [f"{name}: {', '.join(paths)}" for name, paths in repeated if name not in SHARED_NAMES]
    return shared


def lines_by_room() -> dict[str, tuple[int, int]]:
    """Return the numbers of files and of logical lines of each folder in hetero/ and in plugins/."""
    rooms: dict[str, tuple[int, int]] = {}
    for package in PACKAGES:
        for path in source_files(package):
            room = "/".join(path.relative_to(ROOT).parts[:-1][: 2 if package == "hetero" else 4])
            files, lines = rooms.get(room, (0, 0))
            rooms[room] = files + 1, lines + logical_lines(path)
    return rooms


def main() -> int:
    rooms = lines_by_room()
    print("logical lines, files and room:")
    for room, (files, lines) in sorted(rooms.items()):
        print(f"{lines:7,} {files:4} {room}")
    totals = [sum(column) for column in zip(*rooms.values())]
    print(f"{totals[1]:7,} {totals[0]:4} in all\n")
    print("modules of the largest folders:")
    for folder, count in modules_by_folder().most_common(10):
        print(f"{count:7} {folder}")
    problems = {
        "folders with too many modules": crowded_folders(),
        "class names that are used more than once": shared_class_names(),
        "imports against the order of layers": [
            problem for room, order in layers().items() for problem in imports_against_order(room, order)
        ],
    }
    for title, lines in problems.items():
        print(f"\n{title}: {len(lines)}", *lines, sep="\n  ")
    return int(any(problems.values()))


if __name__ == "__main__":
    sys.exit(main())
