"""ModelContext: translators, unknown operators, limits and progress, for the translation of all graphs of a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence

from hetero.frontend.extension import Extension, conversion_for
from hetero.frontend.translation.decoded import DecodedGraph, DecodedModel, DecodedNode, needed_nodes
from hetero.frontend.translation.translators import Translator
from hetero.system.errors import FrontendError

# Maximum nesting depth of graphs.
MAX_NESTING = 40
# Maximum number of nodes after inlining: this factor times the nodes of the file, plus a constant of the format. A
# graph may be run by several nodes, so a small file can expand exponentially.
INLINE_FACTOR = 50


class ModelContext(ABC):
    """State shared by the translation of all graphs of a model. ``extensions``: those for this format."""

    inline_constant = 1000

    def __init__(
        self,
        decoded: DecodedModel,
        extensions: Sequence[Extension] = (),
        report_progress: Callable[[int, int], None] = lambda total_steps, completed_steps: None,
    ) -> None:
        self.decoded, self.extensions, self.report_progress = decoded, extensions, report_progress
        self._count, self._limit = 0, self.inline_constant
        # Each graph is kept besides its nodes, so that no other one gets the same id.
        self._nodes: dict[int, tuple[DecodedGraph, Sequence[DecodedNode]]] = {}

    @abstractmethod
    def find_built_in(self, node: DecodedNode) -> Translator | None:
        """Return hetero's translator of an operator, or a function that runs a function of the model, or None."""

    def find(self, node: DecodedNode) -> Translator | None:
        """Return the translator of an operator: that of an extension, else the built-in one, else None."""
        for name in node.operator_names:
            if extension := conversion_for(self.extensions, name, node.domain):
                return extension.get_converter()
        return self.find_built_in(node)

    def graphs_of(self, node: DecodedNode) -> list[DecodedGraph]:
        """Return the graphs that a node runs. A format with functions that are operators adds these."""
        return [self.decoded.graph_of(body) for body in node.bodies]

    def order(self, graph: DecodedGraph) -> Sequence[DecodedNode]:
        """Return the nodes of a graph to translate, in order."""
        return needed_nodes(graph)

    def nodes_of(self, graph: DecodedGraph) -> Sequence[DecodedNode]:
        """Return ``order`` of a graph, computed once."""
        if id(graph) not in self._nodes:
            self._nodes[id(graph)] = graph, self.order(graph)
        return self._nodes[id(graph)][1]

    def check(self, graph: DecodedGraph, advice: str = "") -> None:
        """Raise FrontendError if operators have no translator, listing those of all graphs that are used.

        ``advice``: what else than an extension helps.
        """
        missing: dict[str, list[str]] = {}
        seen, worklist, count = {id(graph)}, [graph], 0
        while worklist:
            nodes = self.nodes_of(worklist.pop())
            count += len(nodes)
            for node in nodes:
                if self.find(node) is None:
                    missing.setdefault(node.kind, []).append(node.full_name)
                try:
                    graphs = self.graphs_of(node)
                except FrontendError as error:
                    raise node_error(node.op_type, node.full_name, error) from error
                for inner in graphs:
                    if id(inner) not in seen:
                        seen.add(id(inner))
                        worklist.append(inner)
        if missing:
            raise FrontendError(unknown_operators(missing, advice))
        self._limit = max(self._limit, self.inline_constant + INLINE_FACTOR * count)

    def enter(self, graph: DecodedGraph, callers: Sequence[DecodedGraph]) -> None:
        """Check the limits before a graph is translated. ``callers``: the graphs around it, outermost first.

        Raises FrontendError if it runs itself, is nested too deep, or if there are too many nodes in all.
        """
        if any(graph is caller for caller in callers):
            raise FrontendError(f"the function '{graph.name}' calls itself")
        if len(callers) > MAX_NESTING:
            raise FrontendError(f"functions and subgraphs are nested more than {MAX_NESTING} deep")
        self._count = 1 + len(self.nodes_of(graph)) + (self._count if callers else 0)
        if self._count > self._limit:
            raise FrontendError(f"its graphs call each other so often that they expand to over {self._limit} operators")


def unknown_operators(places: Mapping[str, Iterable[str]], advice: str = "") -> str:
    """Return the message about operators without a translation. ``places``: the names of their nodes, by operator."""
    kinds = []
    for kind, names in places.items():
        first, *others = map(str, names)
        kinds.append(f"{kind} ({1 + len(others)} nodes, the first is '{first}')" if others else f"{kind} ('{first}')")
    return (
        f"there is no translation of {', '.join(kinds)}: add one with a ConversionExtension "
        f"(Core.add_extension, or --extension of the command line){advice}"
    )


def node_error(op_type: str, name: str, reason: Exception) -> FrontendError:
    """Return the error about a node."""
    return FrontendError(f"{op_type} node '{name}': {reason}")
