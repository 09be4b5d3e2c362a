"""rt_info in IR files: notes on the model in nested elements, and on each node in attributes of its layer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from hetero.frontend.ir.spelling import joined_names, split_names
from hetero.graph import Node
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


def write_node_info(layer: Element, node: Node) -> None:
    if not node.rt_info:
        return
    element = SubElement(layer, "rt_info")
    for name, value in node.rt_info.items():
        if name == ORIGINAL_NAMES:
            SubElement(element, "attribute", name=_FUSED_NAMES, version="0", value=joined_names(set(value)))
        else:
            SubElement(element, "attribute", name=str(name), version="0", value=str(value))


def read_node_info(layer: Element, node: Node) -> None:
    for attribute in layer.iterfind("rt_info/attribute"):
        name, value = attribute.get("name", ""), attribute.get("value", "")
        if name == _FUSED_NAMES:
            node.rt_info[ORIGINAL_NAMES] = tuple(split_names(value))
        else:
            node.rt_info[name] = value
