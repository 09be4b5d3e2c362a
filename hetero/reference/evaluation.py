"""Evaluation of a node or a model on given tensors: ``Node.evaluate`` and ``Model.evaluate``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.graph import Model, Node, Output
from hetero.reference.program import Program
from hetero.reference.registry import UncancelledRun, evaluate
from hetero.system.errors import ArgumentTypeError, TensorError


def evaluate_node(node: Node, outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> bool:
    """Compute the outputs of a node. Raises TensorError if tensors do not fit, and UnsupportedOperationError."""
    name = f"{node.type_info.name} '{node.friendly_name}'"
    _check(name, "inputs", inputs, node.input_values())
    _check_count(name, "outputs", outputs, node.outputs())
    _write(evaluate(node, [tensor.array for tensor in inputs]), outputs)
    return True


def evaluate_model(model: Model, outputs: Sequence[Tensor], inputs: Sequence[Tensor]) -> bool:
    """Compute the outputs of a model. Raises TensorError if tensors do not fit, and UnsupportedOperationError."""
    name = f"model '{model.friendly_name}'"
    _check(name, "inputs", inputs, model.inputs)
    _check_count(name, "outputs", outputs, model.outputs)
    with np.errstate(all="ignore"):  # infinities and NaN are valid results
        _write(Program(model).run([tensor.array for tensor in inputs], UncancelledRun()), outputs)
    return True


def _check(name: str, kind: str, tensors: Sequence[Tensor], ports: Sequence[Output]) -> None:
    _check_count(name, kind, tensors, ports)
    for index, (tensor, port) in enumerate(zip(tensors, ports)):
        if not isinstance(tensor, Tensor):
            raise ArgumentTypeError(f"{name}: its {kind} are Tensors, not {type(tensor).__name__}")
        kinds = {port.element_type, tensor.element_type} - {Type.dynamic}
        if not port.admits(tensor.shape) or len(kinds) > 1:
            expected, found = f"{port.element_type}{port.partial_shape}", f"{tensor.element_type}{list(tensor.shape)}"
            raise TensorError(f"{name}: tensor {index} of its {kind} must be {expected}, but is {found}")


def _check_count(name: str, kind: str, tensors: Sequence[Tensor], ports: Sequence[Output]) -> None:
    if len(tensors) != len(ports):
        raise TensorError(f"{name} has {len(ports)} {kind}, but {len(tensors)} tensors are given")


def _write(arrays: Sequence[np.ndarray], outputs: Sequence[Tensor]) -> None:
    for array, tensor in zip(arrays, outputs):
        tensor.copy_from(array)
