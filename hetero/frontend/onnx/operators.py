"""OperatorResolver, which finds the translator or the function of each operator of a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from onnx import AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto

from hetero.frontend.extension import Extension, conversion_for
from hetero.frontend.onnx import translators as _  # noqa: F401 (fills the registry)
from hetero.frontend.onnx.functions import StandardFunction, domain_of, versions_of
from hetero.frontend.onnx.registry import find_translator
from hetero.frontend.translation.translators import Translator
from hetero.system.errors import FrontendError

# Maximum number of node names in a message.
_MAX_NAMES = 3

Operator = Translator | FunctionProto | StandardFunction


class OperatorResolver:
    """The operators that a model may use, in the versions of the operator sets that it imports.

    Extensions take precedence over hetero's translators, and these over functions.
    """

    def __init__(self, model: ModelProto, extensions: Sequence[Extension] = ()) -> None:
        self._extensions = extensions
        # Files older than operator sets use version 1.
        self.versions = {"": 1} | versions_of(model.opset_import)
        self._functions = {(domain_of(f.domain), f.name, f.overload): f for f in model.functions}

    def versions_in(self, function: FunctionProto) -> dict[str, int]:
        """Return the operator set versions, by domain, that the nodes of a function use."""
        return self.versions | versions_of(function.opset_import)

    def find(self, node: NodeProto, versions: Mapping[str, int]) -> Operator | None:
        """Return a translator, else a function of the model, else a function of ONNX, else None."""
        domain = domain_of(node.domain)
        version = versions.get(domain, 1)
        extension = conversion_for(self._extensions, node.op_type, domain)
        if extension:
            return extension.get_converter()
        translate = None if node.overload else find_translator(node.op_type, version, domain)
        return (
            translate
            or self._functions.get((domain, node.op_type, node.overload))
            or StandardFunction.find(domain, node.op_type, version)
        )

    def check(self, nodes: Iterable[NodeProto], versions: Mapping[str, int]) -> None:
        """Raise one FrontendError that lists all unsupported operators of the nodes, their subgraphs and functions.

        Functions of ONNX that depend on input types are not checked: these types are not known yet.
        """
        missing: dict[str, list[str]] = {}
        seen: set[tuple[str, str, str]] = set()
        worklist = [(nodes, versions)]
        while worklist:
            nodes, versions = worklist.pop()
            for node in nodes:
                worklist += [(inner.node, versions) for inner in _graphs_in(node.attribute)]
                operator = self.find(node, versions)
                if operator is None:
                    domain = domain_of(node.domain)
                    name = f"{domain or 'ai.onnx'}.{node.op_type} of version {versions.get(domain, 1)}"
                    missing.setdefault(name, []).append(node.name or next(iter(node.output), "(unnamed)"))
                key = (node.domain, node.op_type, node.overload)
                if isinstance(operator, (FunctionProto, StandardFunction)) and key not in seen:
                    seen.add(key)
                    body = operator if isinstance(operator, FunctionProto) else operator.fixed_body()
                    worklist += [(body.node, self.versions_in(body))] if body else []
        if missing:
            raise FrontendError(
                "there is no translation of "
                + "; ".join(f"{o} ({describe_nodes(names)})" for o, names in missing.items())
            )


def _graphs_in(attributes: Iterable[AttributeProto]) -> list[GraphProto]:
    return [graph for a in attributes for graph in ((a.g, *a.graphs) if a.type == AttributeProto.GRAPH else a.graphs)]


def describe_nodes(names: Iterable[str]) -> str:
    names = [str(name) for name in names]  # the name in a damaged file may be bytes
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return ("nodes " if len(names) > 1 else "node ") + ", ".join(names[:_MAX_NAMES]) + more
