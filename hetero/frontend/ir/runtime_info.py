"""rt_info in IR files: of the model as nested elements, of nodes and ports as attributes of their layer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from hetero.frontend.ir.spelling import join_names, split_names
from hetero.graph import Node, Parameter
from hetero.graph.rt_info import ORIGINAL_NAMES, RuntimeAttribute

# OpenVINO's key for the names of the original nodes that a fused node replaces.
_FUSED_NAMES = "fused_names"
# The key for the names of the dimensions of a Parameter, by axis; OpenVINO keeps it as user data.
_DIMENSION_NAMES = "dimension_names"
_TAG = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")


def write_model_info(root: Element, info: Mapping[str, Any]) -> None:
    """Add the rt_info of a model to its ``net`` element."""
    _write(SubElement(root, "rt_info"), info)


def _write(parent: Element, info: Mapping[str, Any]) -> None:
    for name, value in dict(info).items():
        # A name that is not a valid XML tag becomes an attribute.
        child = SubElement(parent, name) if _TAG.fullmatch(name) else SubElement(parent, "info", name=name)
        if isinstance(value, Mapping):
            _write(child, value)
        else:
            child.set("value", f"{value}")


def read_model_info(root: Element) -> dict[str, Any]:
    """Return the rt_info of a ``net`` element: strings, and dictionaries of strings."""
    element = root.find("rt_info")
    return {} if element is None else _read(element)


def _read(parent: Element) -> dict[str, Any]:
    info: dict[str, Any] = {}
    for child in parent:
        name = child.get("name", child.tag) if child.tag == "info" else child.tag
        info[name] = child.get("value") if "value" in child.attrib else _read(child)
    return info


def write_rt_info(parent: Element, rt_info: Mapping[str, Any]) -> None:
    """Add the rt_info of a node or a port. Values that OpenVINO does not define are written as its ``user_data``."""
    if not rt_info:
        return
    element = SubElement(parent, "rt_info")
    for name, value in dict(rt_info).items():
        if name == ORIGINAL_NAMES:
            SubElement(element, "attribute", name=_FUSED_NAMES, version="0", value=join_names(value, ", "))
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
        element.set("value", f"{value}")
    element.set("version", "")


def read_rt_info(parent: Element) -> dict[str, Any]:
    """Return the rt_info of a node or a port: RuntimeAttributes, and user data as strings and nested dictionaries."""
    info: dict[str, Any] = {}
    for element in parent.iterfind("rt_info/attribute"):
        fields = RuntimeAttribute(element.attrib)
        name, version = fields.pop("name", ""), fields.pop("version", "")
        if name == _FUSED_NAMES:
            info[ORIGINAL_NAMES] = tuple(split_names(fields.get("value", "")))
        else:
            info[f"{name}_{version}"] = fields
    for element in parent.iterfind("rt_info/user_data"):
        info[element.get("name", "")] = _read_user_data(element)
    return info


def _read_user_data(element: Element) -> str | dict[str, Any]:
    if "value" in element.attrib:
        return element.attrib["value"]
    return {inner.get("name", ""): _read_user_data(inner) for inner in element.iterfind("user_data")}


def names_of_dimensions(node: Node) -> dict[str, dict[str, str]]:
    """Return rt_info with the names of the dynamic dimensions of a Parameter; {} if there are none."""
    names = node.partial_shape.names if isinstance(node, Parameter) else {}
    return {_DIMENSION_NAMES: names} if names else {}


def name_dimensions(parameter: Parameter, rt_info: dict[str, Any]) -> None:
    """Take the names of dimensions out of the rt_info of a Parameter's output, and give them to its shape."""
    names = rt_info.pop(_DIMENSION_NAMES, None)
    if isinstance(names, dict):
        parameter.partial_shape = parameter.partial_shape.with_names(names)
        parameter.validate_and_infer_types()
