"""A safe YAML parser for untrusted text: limited size and depth, no aliases, no tags. It locates each entry."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

MAX_DEPTH = 50
# Maximum number of keys, values and collections; parsing this many takes a second.
MAX_NODES = 10_000
# A variable of the environment, ${NAME} or ${NAME:-default}. $${ stands for ${.
_VARIABLE = re.compile(r"\$\$\{|\$\{(\w+)(?::-([^}]*))?\}|\$\{")

Keys = tuple[str, ...]


class YamlError(ValueError):
    """Text that is not YAML, or YAML that is not accepted. ``place`` is ``:LINE:COLUMN``, or "" if it is unknown."""

    def __init__(self, problem: str, mark: Any = None) -> None:
        super().__init__(problem)
        self.place = _place(mark) if mark else ""


class LocatedText(str):
    """A string in a YAML text. If it is a path, it is relative to ``folder``."""

    folder: Path


@dataclass(frozen=True)
class Document:
    """Plain data of a YAML text, and the source of each entry, as in ``run.yaml:3:5``, by its path of keys."""

    data: Any
    places: dict[Keys, str]


def parse_yaml(text: str, source: str = "", folder: Path = Path()) -> Document:
    """Parse a YAML text. Its strings are of type LocatedText.

    Replaces variables of the environment in values. Raises YamlError if the text is not YAML, is too large or too
    deeply nested, repeats a key, or uses aliases or tags. A few lines of nested aliases can expand to more values than
    fit into memory, and a tag may not fit its value.
    """
    try:
        _check_events(text)
        loader = _Loader(text)
        loader.folder = folder
        node = loader.get_single_node()
        if node is None:
            return Document(None, {})
        places = {keys: source + _place(mark) for keys, mark in _entries(node, ())}
        return Document(loader.construct_document(node), places)
    except yaml.MarkedYAMLError as error:
        raise YamlError(str(error.problem), error.problem_mark) from None
    except yaml.YAMLError as error:
        raise YamlError(str(error)) from None
    except ValueError as error:
        raise error if isinstance(error, YamlError) else YamlError(str(error)) from None


class _Loader(yaml.SafeLoader):
    folder: Path

    def compose_scalar_node(self, anchor: dict[Any, yaml.Node]) -> yaml.ScalarNode:
        node: yaml.ScalarNode = super().compose_scalar_node(anchor)
        if "${" in node.value:
            node.value = _VARIABLE.sub(lambda match: _variable(match, node.start_mark), node.value)
            if node.style is None:  # not quoted: a number may take the place of the variable
                node.tag = self.resolve(yaml.ScalarNode, node.value, (True, False))  # type: ignore[no-untyped-call]  # untyped in the stub
        return node


def _construct_text(loader: _Loader, node: yaml.ScalarNode) -> LocatedText:
    text = LocatedText(node.value)
    text.folder = loader.folder
    return text


_Loader.add_constructor("tag:yaml.org,2002:str", _construct_text)


def _variable(match: re.Match[str], mark: yaml.Mark) -> str:
    name, default = match.groups()
    if match[0] == "$${":
        return "${"
    if not name:
        raise YamlError("a variable must be of the form ${NAME} or ${NAME:-default}; write $${ for the text ${", mark)
    value = os.environ.get(name) or default
    if value is None:
        raise YamlError(
            f"the environment has no variable {name}: set it, or give a default, ${{{name}:-default}}", mark
        )
    return value


def _entries(node: yaml.Node, keys: Keys) -> Iterator[tuple[Keys, yaml.Mark]]:
    """Yield the path and the position of each entry: that of its key in a mapping."""
    yield keys, node.start_mark
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            yield from _entries(item, (*keys, str(index)))
    elif isinstance(node, yaml.MappingNode):
        seen = set()
        for key, value in node.value:
            name = str(key.value)
            if name in seen:
                raise YamlError(f"the key {name} is repeated", key.start_mark)
            seen.add(name)
            inner = (*keys, name)
            yield from _entries(value, inner)
            yield inner, key.start_mark


def _check_events(text: str) -> None:
    depth = nodes = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        mark, tag = event.start_mark, getattr(event, "tag", None)
        if isinstance(event, yaml.AliasEvent):
            raise YamlError(f"the alias *{event.anchor} is not accepted: write out the value, or quote a text", mark)
        if tag:
            raise YamlError(f"the tag {tag} is not accepted: remove it, or quote a text", mark)
        nodes += isinstance(event, yaml.NodeEvent)
        if nodes > MAX_NODES:
            raise YamlError(f"it has more than {MAX_NODES} keys and values: store arrays in npy files")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise YamlError(f"nested more than {MAX_DEPTH} levels deep", mark)


def _place(mark: Any) -> str:
    return f":{mark.line + 1}:{mark.column + 1}"
