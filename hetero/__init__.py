"""hetero: one neural network on several devices at once."""

from typing import TYPE_CHECKING

from hetero import ops
from hetero.errors import HeteroError
from hetero.graph import Constant, Input, Model, Node, Op, Output, Parameter
from hetero.ops.opsets import make_modules
from hetero.shape import Dimension, PartialShape
from hetero.tensor import Tensor
from hetero.types import Type

__all__ = [
    "AsyncInferQueue", "CompiledModel", "Constant", "Core", "Dimension", "HeteroError", "InferRequest", "Input",
    "Model", "Node", "Op", "Output", "Parameter", "PartialShape", "Tensor", "Type",
    "ops",
]  # fmt: skip

# hetero.opset1 … hetero.opset16, as modules that can be imported
globals().update(make_modules())

if TYPE_CHECKING:
    from hetero.runtime import AsyncInferQueue, CompiledModel, Core, InferRequest


def __getattr__(name: str) -> object:
    """Load the runtime when it is first used: building and reading graphs does without threads and plugins."""
    if name not in ("AsyncInferQueue", "CompiledModel", "Core", "InferRequest"):
        raise AttributeError(f"module 'hetero' has no attribute '{name}'")
    from hetero import runtime

    return getattr(runtime, name)
