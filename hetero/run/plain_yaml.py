"""YAML text to plain data, with nothing in it that could blow up."""

from __future__ import annotations

from typing import Any

import yaml

MAX_DEPTH = 50
# Keys, values and collections in one text: ten thousand take a second.
MAX_NODES = 10_000


def parse_yaml(text: str) -> Any:
    """The data of a YAML text.

    Raises ValueError for what is not YAML, is too large, nests too deep, or uses aliases or tags.

    A few lines of aliases of aliases can mean more values than fit into any memory, and tags can be given to
    values that they do not fit, so none are taken.
    """
    try:
        _check_events(text)
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        raise ValueError(f"line {error.problem_mark.line + 1}: {error.problem}") from None
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def _check_events(text: str) -> None:
    depth = nodes = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise ValueError(f"line {line} uses the alias *{event.anchor}: write the value out, or quote a text")
        if getattr(event, "tag", None):
            raise ValueError(f"line {line} uses the tag {event.tag}: leave it out, or quote a text")
        nodes += isinstance(event, yaml.NodeEvent)
        if nodes > MAX_NODES:
            raise ValueError(f"it has more than {MAX_NODES} keys and values: put arrays into npy files")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise ValueError(f"line {line} is nested more than {MAX_DEPTH} deep")
