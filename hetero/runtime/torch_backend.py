"""The backend of ``torch.compile(module, backend="hetero")``, which torch finds by its entry point."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hetero.errors import HeteroError
from hetero.messages import get_logger
from hetero.runtime.convert import convert_model
from hetero.runtime.core import Core

if TYPE_CHECKING:
    from torch import Tensor
    from torch.fx import GraphModule

log = get_logger("hetero.runtime")


def compile_graph(
    graph: GraphModule, inputs: Sequence[Tensor], options: Mapping[str, Any] | None = None
) -> Callable[..., Sequence[Tensor]]:
    """Return a function that runs a graph on the device ``options["device"]``, by default HETERO.

    Other options are properties of the compilation. A graph that hetero cannot run stays with torch, which is logged
    with the reason. Gradients are not computed.
    """
    import torch

    properties = dict(options or {})
    device = properties.pop("device", "HETERO")
    try:
        # Numbers that torch makes inputs are not tensors, and change from call to call.
        if not all(isinstance(value, torch.Tensor) for value in inputs):
            raise HeteroError("it has inputs that are not tensors")
        with torch.no_grad():
            model = convert_model(graph, example_input=tuple(inputs))
        request = Core().compile_model(model, device, properties).create_infer_request()
    except HeteroError as error:
        log.warning("torch runs a graph of %d nodes: %s", len(graph.graph.nodes), error)
        return graph.forward

    def run(*values: Tensor) -> Sequence[Tensor]:
        arrays = [value.detach().numpy() for value in values]
        return [torch.from_numpy(array) for array in request.infer(arrays).to_tuple()]

    return run
