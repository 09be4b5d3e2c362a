"""Writing of IR files, version 11: save_model and serialize."""

from __future__ import annotations

import os
import re
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from hetero.core.containers import ContainerType
from hetero.frontend.ir.attributes import AttributeWriter
from hetero.frontend.ir.bodies import write_bodies
from hetero.frontend.ir.runtime_info import names_of_dimensions, write_model_info, write_rt_info
from hetero.frontend.ir.spelling import join_names, precision, type_name
from hetero.frontend.ir.weights import WeightsWriter
from hetero.graph import Constant, Model, Node, Op, Output, Result, is_execution_step
from hetero.graph.execution import LAYER_TYPE
from hetero.graph.model import checked_model
from hetero.ops.control_flow.bodies import MultiSubGraphOp
from hetero.passes.compression.fp16_compression import compress_to_f16
from hetero.system.errors import ArgumentTypeError, FrontendError
from hetero.system.files import atomic_write

VERSION = "11"

_NOT_IN_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def save_model(model: Model, output_model: str | bytes | os.PathLike[str], compress_to_fp16: bool = True) -> None:
    """Write a model to ``output_model``, an .xml file, and its weights to a .bin file beside it.

    With ``compress_to_fp16``, f32 and f64 constants are stored as f16 if they fit; see ``compress_to_f16``.
    Raises FrontendError if the files cannot be written; no half-written file is left.
    """
    serialize(compress_to_f16(checked_model(model)) if compress_to_fp16 else model, output_model)


def serialize(
    model: Model,
    xml_path: str | bytes | os.PathLike[str],
    bin_path: str | bytes | os.PathLike[str] = "",
    version: str = "UNSPECIFIED",
) -> None:
    """Write a model without compression: the graph to ``xml_path``, the weights to ``bin_path``.

    ``bin_path`` is by default the .bin file beside the XML. Folders that do not exist are created. Raises FrontendError
    like ``save_model``.
    """
    checked_model(model)
    if version not in ("UNSPECIFIED", "IR_V11"):
        raise FrontendError(f"IR files of version {version} cannot be written, only IR_V11")
    for path in (xml_path, bin_path):
        if not isinstance(path, (str, bytes, os.PathLike)):
            raise ArgumentTypeError(f"the path of an IR file is a string or a path, not {path!r}")
    xml = Path(os.fsdecode(xml_path))
    if xml.suffix != ".xml":
        raise FrontendError(f"the name of an IR file must end in .xml, but is {xml}")
    weights = Path(os.fsdecode(bin_path)) if bin_path else xml.with_suffix(".bin")
    try:
        for file in (xml, weights):
            file.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(weights, xml) as (binary, text):
            root = model_element(model, WeightsWriter(binary))
            ElementTree.indent(root, "\t")
            text.write(b'<?xml version="1.0"?>\n')
            text.write(encoded(root))
    except OSError as error:
        raise FrontendError(f"the model cannot be written to {error.filename or xml}: {error.strerror}") from error


def model_element(model: Model, weights: WeightsWriter) -> Element:
    """Return the ``net`` element of a model and write its constants to ``weights``."""
    root = Element("net", name=model.friendly_name, version=VERSION)
    fill_graph(root, model, weights)
    write_model_info(root, model.rt_info)
    return root


def fill_graph(parent: Element, model: Model, weights: WeightsWriter) -> dict[Node, int]:
    """Add the layers and edges of a model or a body to ``parent``; return the layer number of each node."""
    layers, edges = SubElement(parent, "layers"), SubElement(parent, "edges")
    numbers: dict[Node, int] = {}
    for number, node in enumerate(model.get_ordered_ops()):
        numbers[node] = number
        _add_layer(layers, number, node, weights)
        for index, value in enumerate(node.input_values()):
            SubElement(edges, "edge", {
                "from-layer": str(numbers[value.node]), "from-port": str(_port_number(value)),
                "to-layer": str(number), "to-port": str(index),
            })  # fmt: skip
    return numbers


def layer_element(node: Node, weights: WeightsWriter) -> Element:
    """Return an element with the layer of one node, and write the constants in its bodies to ``weights``."""
    root = Element("layers")
    _add_layer(root, 0, node, weights)
    return root


def encoded(root: Element) -> bytes:
    """Serialize an element as UTF-8. Raises FrontendError if a name or value has a character that XML cannot hold."""
    text = ElementTree.tostring(root, encoding="unicode")
    invalid = _NOT_IN_XML.search(text)
    if invalid:
        before = text[max(0, invalid.start() - 60) : invalid.start()]
        raise FrontendError(f"XML cannot hold the character {invalid.group()!r} in a name or rt_info after {before!r}")
    return text.encode()


def _port_number(output: Output) -> int:
    """Return the port number of an output: IR numbers the ports of a layer inputs first."""
    return output.node.get_input_size() + output.index


def _add_layer(layers: Element, number: int, node: Node, weights: WeightsWriter) -> None:
    info = node.type_info
    layer = SubElement(layers, "layer", id=str(number), name=node.friendly_name)
    data = _data_of(node, weights)
    if is_execution_step(node):
        # As in OpenVINO's runtime models: the type is the device's, there is no version, and rt_info goes into <data>.
        rt_info = dict(node.rt_info)
        layer.set("type", rt_info.pop(LAYER_TYPE))
        data |= {name: str(value) for name, value in rt_info.items()}
    else:
        layer.set("type", type_name(info.name))
        layer.set("version", info.version_id)
        write_rt_info(layer, node.rt_info)
    if data:
        layer.insert(0, Element("data", data))
    if node.get_input_size():
        ports = SubElement(layer, "input")
        for reader in node.inputs():
            port = _add_port(ports, reader.index, reader.get_source_output())
            write_rt_info(port, reader.rt_info)
    if isinstance(node, Result):
        if node.output(0).own_names:
            layer.set("output_names", join_names(sorted(node.output(0).own_names)))
    elif node.get_output_size():
        ports = SubElement(layer, "output")
        for output in node.outputs():
            port = _add_port(ports, _port_number(output), output)
            if output.own_names:
                port.set("names", join_names(sorted(output.own_names)))
            write_rt_info(port, {**output.rt_info, **names_of_dimensions(node)})
    if isinstance(node, MultiSubGraphOp):
        write_bodies(layer, node, lambda element, body: fill_graph(element, body, weights))


def _data_of(node: Node, weights: WeightsWriter) -> dict[str, str]:
    if isinstance(node, Constant):
        offset, size = weights.add(node.contents, node.get_element_type())
        shape = ", ".join(map(str, node.contents.shape))
        return {
            "element_type": node.get_element_type().to_string(), "shape": shape,
            "offset": str(offset), "size": str(size),
        }  # fmt: skip
    if not isinstance(node, Op):
        return {}
    if any(isinstance(value, ContainerType) for value in node.attribute_values().values()):
        raise FrontendError(f"'{node.friendly_name}' is a sequence or an optional, which IR files cannot hold")
    writer = AttributeWriter(f"{node.type_info.name} '{node.friendly_name}'")
    node.visit_attributes(writer)
    return writer.texts


def _add_port(ports: Element, number: int, value: Output) -> Element:
    if isinstance(value.element_type, ContainerType):
        raise FrontendError(f"'{value.node.friendly_name}' outputs {value.element_type}, which IR files cannot hold")
    port = SubElement(ports, "port", id=str(number), precision=precision(value.element_type))
    if value.partial_shape.has_rank:
        for dimension in value.partial_shape:
            SubElement(port, "dim").text = str(dimension.get_length() if dimension.is_static else -1)
    return port
