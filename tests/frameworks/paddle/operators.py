"""Cases of operators, each with several combinations of attributes, in the terms of ProgramDesc."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.frameworks.paddle import edge_operators, network_operators, tensor_operators
from tests.frameworks.paddle.programs import Case

_TENSOR = ("binary", "unary", "reductions", "shapes", "joins", "slices", "padding", "creation", "indexing", "sorting")
_NETWORK = (
    "activations", "convolutions", "pooling", "normalization", "products", "resampling", "recurrent", "quantization",
    "detection",
)  # fmt: skip
_EDGE = ("numbers", "elements", "layers")
# Functions that yield the cases of a family, by its name.
FAMILIES: dict[str, Callable[[], Iterator[Case]]] = {
    **{name: getattr(tensor_operators, name) for name in _TENSOR},
    **{name: getattr(network_operators, name) for name in _NETWORK},
    **{f"edge_{name}": getattr(edge_operators, name) for name in _EDGE},
}


def cases() -> Iterator[Case]:
    """Yield all cases."""
    for family in FAMILIES.values():
        yield from family()
