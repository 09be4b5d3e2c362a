"""Damage to trees of dictionaries, lists and objects: JSON, YAML, XML elements, the objects of a flatbuffer."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from random import Random
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import yaml

from tests.robustness.damage import FRACTIONS, NESTING, NUMBERS, WORDS

# A dictionary or a sequence, and a key or an index in it.
Place = tuple[Any, Any]


def change_json(content: bytes, rng: Random) -> bytes:
    """Return JSON with one change; unreadable content stays as it is."""
    try:
        tree = json.loads(content)
        change_tree(tree, rng)
        return json.dumps(tree).encode()
    except (ValueError, RecursionError):
        return content


def change_yaml(content: bytes, rng: Random) -> bytes:
    """Return YAML with one change; unreadable content stays as it is."""
    try:
        tree = yaml.safe_load(content)
        change_tree(tree, rng)
        return yaml.safe_dump(tree).encode()
    except (yaml.YAMLError, ValueError, RecursionError):
        return content


def change_xml(content: bytes, rng: Random) -> bytes:
    """Return XML with one change; unreadable content stays as it is."""
    try:
        root = ElementTree.fromstring(content)
        change_tree(root, rng, is_typed=True)
        for element in root.iter():
            element.attrib = {name: value for name, value in element.attrib.items() if value is not None}
        return ElementTree.tostring(root)
    except (ElementTree.ParseError, RecursionError):
        return content


def places(root: Any) -> Iterator[Place]:
    """Yield the place of each value in the tree."""
    waiting = _containers(root)
    while waiting:
        container = waiting.pop()
        for key, value in list(container.items() if isinstance(container, dict) else enumerate(container)):
            yield container, key
            waiting += _containers(value)


def _containers(value: Any) -> list[Any]:
    if isinstance(value, Element):
        return [value.attrib, value]
    if isinstance(value, (dict, list)):
        return [value]
    return [vars(value)] if hasattr(value, "__dict__") else []


def change_tree(root: Any, rng: Random, is_typed: bool = False) -> None:
    """Change one place: set, remove, repeat, exchange or nest a value, or copy one from elsewhere.

    ``is_typed``: values keep their types and objects their fields, as a format with a schema demands.
    """
    known = list(places(root))
    if not known:
        return
    container, key = rng.choice(known)
    value = container[key]
    kinds = ["set", "set", "set", "copy", "remove"]
    if not isinstance(container, dict):
        kinds += ["repeat", "exchange"]
    if not is_typed:
        kinds += ["nest"]
    kind = rng.choice(kinds)
    if kind == "set":
        container[key] = _other(value, known, rng, is_typed)
    elif kind == "copy":
        alike = [holder[place] for holder, place in known if type(holder[place]) is type(value)]
        container[key] = copy.deepcopy(rng.choice(alike))
    elif kind == "remove" and is_typed and isinstance(container, dict):
        container[key] = None
    elif kind == "remove":
        del container[key]
    elif kind == "repeat":
        container.insert(key, copy.deepcopy(value))
    elif kind == "exchange":
        other = rng.randrange(len(container))
        container[key], container[other] = container[other], value
    else:
        for _ in range(rng.choice(NESTING)):
            value = [value] if rng.random() < 0.5 else {"x": value}
        container[key] = value


def _other(value: Any, known: list[Place], rng: Random, is_typed: bool) -> Any:
    """Return another value, of the same type if types matter."""
    if isinstance(value, Element):
        renamed = copy.deepcopy(value)
        renamed.tag = rng.choice([holder[key].tag for holder, key in known if isinstance(holder[key], Element)])
        return renamed
    texts = sorted({holder[key] for holder, key in known if isinstance(holder[key], str)})
    if isinstance(value, str):
        return rng.choice([rng.choice(WORDS), rng.choice(texts), str(rng.choice(NUMBERS)), _alike(value, rng)])
    if is_typed:
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return rng.choice([rng.choice(NUMBERS), rng.randint(-2, 20), rng.randint(0, 255)])
        if isinstance(value, float):
            return rng.choice(FRACTIONS)
        return value[:-1] if isinstance(value, (bytes, list)) else value
    return rng.choice([rng.choice(NUMBERS), rng.choice(FRACTIONS), rng.choice(WORDS), None, True, [], {}, 10**400])


def _alike(text: str, rng: Random) -> str:
    """Return the text with one of its numbers or words exchanged: lists of numbers are texts in IR."""
    parts = text.split(",")
    parts[rng.randrange(len(parts))] = rng.choice([str(rng.choice(NUMBERS)), "", "?"])
    return ",".join(parts)
