"""hetero: one neural network on several devices at once."""

from hetero.errors import HeteroError
from hetero.graph import Constant, Input, Model, Node, Op, Output, Parameter
from hetero.runtime import AsyncInferQueue, CompiledModel, Core, InferRequest
from hetero.shape import Dimension, PartialShape
from hetero.tensor import Tensor
from hetero.types import Type

__all__ = [
    "AsyncInferQueue", "CompiledModel", "Constant", "Core", "Dimension", "HeteroError", "InferRequest", "Input",
    "Model", "Node", "Op", "Output", "Parameter", "PartialShape", "Tensor", "Type",
]  # fmt: skip
