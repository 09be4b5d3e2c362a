"""The backend of ``torch.compile(module, backend="openvino")``, with the options of OpenVINO's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hetero import properties as props
from hetero.runtime.torch_backend import compile_graph

if TYPE_CHECKING:
    from torch.fx import GraphModule


def compile_openvino_graph(
    graph: GraphModule, inputs: Sequence[Any], options: Mapping[str, Any] | None = None
) -> Callable[..., Sequence[Any]]:
    """Return a function that runs a graph on ``options["device"]``, by default CPU, with the properties in ``config``.

    ``model_caching`` and ``cache_dir`` set CACHE_DIR. OpenVINO's other options choose how it traces, and have no
    effect.
    """
    given = options or {}
    caching = {str(props.cache_dir): given.get("cache_dir", "./model_cache")} if given.get("model_caching") else {}
    return compile_graph(graph, inputs, {"device": given.get("device", "CPU"), **caching, **given.get("config", {})})
