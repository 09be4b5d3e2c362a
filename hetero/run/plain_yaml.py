"""YAML text to plain data, with nothing in it that could blow up."""

from __future__ import annotations

from typing import Any

import yaml

MAX_DEPTH = 50


def parse_yaml(text: str) -> Any:
    """The data of a YAML text. Raises ValueError for what is not YAML, nests too deep, or uses aliases.

    A few lines of aliases of aliases can mean more values than fit into any memory, so none are taken.
    """
    try:
        _check_events(text)
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def _check_events(text: str) -> None:
    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise ValueError(f"line {line} uses the alias *{event.anchor}: write the value out, or quote a text")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise ValueError(f"line {line} is nested more than {MAX_DEPTH} deep")
