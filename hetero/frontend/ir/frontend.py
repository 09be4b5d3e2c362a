"""IrFrontEnd: the frontend for OpenVINO IR files."""

from __future__ import annotations

from xml.etree.ElementTree import Element, ParseError

from hetero.frontend.frontend import FrontEnd, ModelSource
from hetero.frontend.ir.reader import Operations, read_net
from hetero.frontend.op_extension import OpExtension
from hetero.frontend.source import SourceBytes, read_source
from hetero.graph import Model
from hetero.ops.control_flow.bodies import MAX_NESTING
from hetero.system.errors import FrontendError, GraphError

VERSIONS = ("10", "11")
# A file is taken for an IR if `<net` occurs within this many bytes from its beginning.
_SNIFFED_BYTES = 4096


class IrFrontEnd(FrontEnd):
    """Frontend for IR files, versions 10 and 11.

    Reads a path, or the XML as bytes or an open file with the weights passed separately. User-defined operations need
    an OpExtension. The weights file is memory-mapped: it must not change while the model exists.
    """

    name = "ir"

    def supported(self, source: ModelSource) -> bool:
        try:
            return b"<net" in read_source(source, "IR", keep_position=True).data[:_SNIFFED_BYTES].tobytes()
        except FrontendError:
            return False

    def convert(self, source: ModelSource, weights: ModelSource | None = None) -> Model:
        """Return the model. ``weights``: the path or the bytes of the binary file, by default the one beside the XML.

        Raises FrontendError, naming the file and the layer, if the IR is damaged or has an unknown operation.
        """
        xml = read_source(source, "IR")
        try:
            operations = Operations([one.operation for one in self.extensions if isinstance(one, OpExtension)])
            return read_net(_parse(xml.data), _weights(xml, weights), operations, self.report_progress)
        except (FrontendError, GraphError) as error:
            raise FrontendError(f"{xml.label}: {error}") from error
        except RecursionError as error:
            raise FrontendError(f"{xml.label}: its bodies or its rt_info are nested too deep") from error


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
        raise FrontendError(f"its version is {net.get('version')}; versions {' and '.join(VERSIONS)} can be read")
    return net


def _check_nesting(net: Element) -> None:
    """Raise FrontendError if bodies are nested too deep. Called before they are read recursively."""
    stack = [(net, 0)]
    while stack:
        element, depth = stack.pop()
        if depth > MAX_NESTING:
            raise FrontendError(f"bodies are nested more than {MAX_NESTING} deep")
        stack += [(child, depth + child.tag.endswith("body")) for child in element]


def _weights(xml: SourceBytes, weights: ModelSource | None) -> memoryview | None:
    """Return the contents of the weights file, by default the one beside the XML; None if it does not exist."""
    if weights is None and xml.path is not None:
        beside = xml.path.with_suffix(".bin")
        weights = beside if beside.exists() else None
    return None if weights is None else read_source(weights, "weights of the IR").data
