"""Helpers for programs that change models, like ``openvino.utils``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.graph import Constant
from hetero.package_utils import classproperty, deprecated, deprecatedclassproperty, get_cmake_path
from hetero.passes.matching.replacement import replace_node, replace_output_update_name
from hetero.system.errors import GraphError

__all__ = [
    "classproperty", "deprecated", "deprecatedclassproperty", "get_cmake_path", "make_postponed_constant",
    "replace_node", "replace_output_update_name",
]  # fmt: skip


def make_postponed_constant(
    element_type: Type, shape: Sequence[int], maker: Callable[[], Tensor], name: str | None = None
) -> Constant:
    """Return a constant of the tensor that ``maker()`` returns, which is called at once.

    Raises GraphError if its type or shape is another one.
    """
    tensor = maker()
    if tensor.element_type is not element_type or list(tensor.shape) != list(shape):
        wanted = f"{element_type}{list(shape)}"
        raise GraphError(f"the maker of a constant of {wanted} returned {tensor.element_type}{list(tensor.shape)}")
    return Constant(tensor.array, name=name)
