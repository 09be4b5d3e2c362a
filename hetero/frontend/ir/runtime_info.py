"""rt_info in IR files: notes on the model in nested elements, and on each node in attributes of its layer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from hetero.frontend.ir.spelling import joined_names, split_names
from hetero.graph.runtime_info import ORIGINAL_NAMES

# OpenVINO's name for the nodes that one stands for.
_FUSED_NAMES = "fused_names"
_TAG = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


def write_model_info(root: Element, info: Mapping[str, Any]) -> None:
    _write(SubElement(root, "rt_info"), info)


def _write(parent: Element, info: Mapping[str, Any]) -> None:
    for name, value in info.items():
        # A name that is no tag goes into an attribute.
        child = SubElement(parent, name) if _TAG.fullmatch(name) else SubElement(parent, "info", name=name)
        if isinstance(value, Mapping):
            _write(child, value)
        else:
            child.set("value", str(value))


def read_model_info(root: Element) -> dict[str, Any]:
    """The notes by their names: strings, and dictionaries of such. Those of OpenVINO's version are left out."""
    element = root.find("rt_info")
    return {} if element is None else _read(element)


def _read(parent: Element) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for child in parent:
        name = child.get("name", child.tag) if child.tag == "info" else child.tag
        found[name] = child.get("value") if "value" in child.attrib else _read(child)
    return found


class RuntimeAttribute(dict):
    """A note of a kind that OpenVINO knows: its fields by their names. Its key ends in its version, ``layout_0``."""


def write_notes(parent: Element, notes: Mapping[str, Any]) -> None:
    """Add the notes on a node or a port; what is no note of OpenVINO's goes where OpenVINO keeps a user's."""
    element = SubElement(parent, "rt_info") if notes else None
    for name, value in notes.items():
        if name == ORIGINAL_NAMES:
            SubElement(element, "attribute", name=_FUSED_NAMES, version="0", value=joined_names(value, ", "))
        elif isinstance(value, RuntimeAttribute):
            kind, _, version = name.rpartition("_")
            SubElement(element, "attribute", {"name": kind, "version": version, **value})
        else:
            _write_user_data(element, name, value)


def _write_user_data(parent: Element, name: str, value: Any) -> None:
    element = SubElement(parent, "user_data", name=str(name))
    if isinstance(value, Mapping):
        for inner, its_value in value.items():
            _write_user_data(element, inner, its_value)
    else:
        element.set("value", str(value))
    element.set("version", "")


def read_notes(parent: Element) -> dict[str, Any]:
    """The notes on a node or a port: RuntimeAttributes, and a user's strings and dictionaries of such."""
    found: dict[str, Any] = {}
    for element in parent.iterfind("rt_info/attribute"):
        fields = RuntimeAttribute(element.attrib)
        name, version = fields.pop("name", ""), fields.pop("version", "")
        if name == _FUSED_NAMES:
            found[ORIGINAL_NAMES] = tuple(split_names(fields.get("value", "")))
        else:
            found[f"{name}_{version}"] = fields
    for element in parent.iterfind("rt_info/user_data"):
        found[element.get("name", "")] = _read_user_data(element)
    return found


def _read_user_data(element: Element) -> str | dict[str, Any]:
    if "value" in element.attrib:
        return element.attrib["value"]
    return {inner.get("name", ""): _read_user_data(inner) for inner in element.iterfind("user_data")}
