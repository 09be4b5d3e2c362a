"""IrFrontEnd: reads IR files."""

from __future__ import annotations

import os
from xml.etree.ElementTree import Element, ParseError

from hetero.errors import FrontendError, GraphError
from hetero.frontend.frontend import FrontEnd, ModelSource
from hetero.frontend.ir.reader import Operations, read_net
from hetero.frontend.op_extension import OpExtension
from hetero.frontend.source import SourceBytes, read_source
from hetero.graph import Model
from hetero.ops.bodies import DEEPEST

# The path or the bytes of the binary file.
Weights = str | os.PathLike | bytes

VERSIONS = ("10", "11")
# What a file must begin with, after white space and a declaration, to be taken for an IR.
_BEGINNING = 4096


class IrFrontEnd(FrontEnd):
    """Reads IR files of versions 10 and 11 from a path, or from bytes or an open file of the XML with weights given.

    Operations that are none of hetero's are known by their OpExtension. Weights are mapped, not read, and must not
    change while the model lives.
    """

    name = "ir"

    def supported(self, source: ModelSource) -> bool:
        try:
            return b"<net" in read_source(source, "IR", keep_position=True).data[:_BEGINNING].tobytes()
        except FrontendError:
            return False

    def convert(self, source: ModelSource, weights: Weights | None = None) -> Model:
        """The model. ``weights``: the path or the bytes of the binary file, by default the one beside the XML.

        Raises FrontendError, which names file and layer, for what is damaged or not known.
        """
        found = read_source(source, "IR")
        try:
            operations = Operations([one.operation for one in self.extensions if isinstance(one, OpExtension)])
            return read_net(_parse(found.data), _weights(found, weights), operations, self.report_progress)
        except (FrontendError, GraphError) as error:
            raise FrontendError(f"{found.label}: {error}") from error
        except RecursionError as error:
            raise FrontendError(f"{found.label}: its bodies or notes lie too deep in each other") from error


def _parse(content: memoryview) -> Element:
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        net = fromstring(content.tobytes(), forbid_dtd=True)
    except ParseError as error:
        raise FrontendError(f"its XML is damaged: {error}") from error
    except (DefusedXmlException, ValueError) as error:
        raise FrontendError(f"its XML is not accepted: {error}") from error
    if net.tag != "net":
        raise FrontendError(f"its XML holds <{net.tag}>, not <net>")
    _check_nesting(net)
    if net.get("version") not in VERSIONS:
        raise FrontendError(f"it is of version {net.get('version')}, but {' and '.join(VERSIONS)} can be read")
    return net


def _check_nesting(net: Element) -> None:
    """Raise FrontendError if bodies are nested too deep, before they are read level by level."""
    waiting = [(net, 0)]
    while waiting:
        element, depth = waiting.pop()
        if depth > DEEPEST:
            raise FrontendError(f"bodies are nested more than {DEEPEST} deep")
        waiting += [(child, depth + child.tag.endswith("body")) for child in element]


def _weights(source: SourceBytes, given: Weights | None) -> memoryview | None:
    """The weights: those given, or of the file beside the XML where there is one."""
    if given is None and source.path is not None:
        beside = source.path.with_suffix(".bin")
        given = beside if beside.exists() else None
    return None if given is None else read_source(given, "weights of the IR").data
