"""A safe YAML parser for untrusted text: limited size and depth, no aliases, no tags."""

from __future__ import annotations

from typing import Any

import yaml

MAX_DEPTH = 50
# Maximum number of keys, values and collections; parsing this many takes a second.
MAX_NODES = 10_000


def parse_yaml(text: str) -> Any:
    """Parse a YAML text to plain data.

    Raises ValueError if it is not YAML, is too large or too deeply nested, or uses aliases or tags. A few lines of
    nested aliases can expand to more values than fit into memory, and a tag may not fit its value.
    """
    try:
        _check_events(text)
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        raise ValueError(f"{_place(error.problem_mark)}: {error.problem}") from None
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def _check_events(text: str) -> None:
    depth = nodes = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        place, tag = _place(event.start_mark), getattr(event, "tag", None)
        if isinstance(event, yaml.AliasEvent):
            raise ValueError(f"{place} uses the alias *{event.anchor}: write out the value, or quote a text")
        if tag:
            raise ValueError(f"{place} uses the tag {tag}: remove it, or quote a text")
        nodes += isinstance(event, yaml.NodeEvent)
        if nodes > MAX_NODES:
            raise ValueError(f"it has more than {MAX_NODES} keys and values: store arrays in npy files")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise ValueError(f"{place} is nested more than {MAX_DEPTH} levels deep")


def _place(mark: Any) -> str:
    return f"line {mark.line + 1}" if mark else "the text"
