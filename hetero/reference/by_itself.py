"""Operations that compute themselves: those whose class brings ``evaluate``, from tensors to tensors."""

from __future__ import annotations

import inspect
import traceback
from collections.abc import MutableMapping, Sequence
from typing import NoReturn

import numpy as np

from hetero.errors import DeviceError, HeteroError
from hetero.graph import Constant, Op, Parameter, is_constant
from hetero.tensor import Tensor
from hetero.types import Type


class ByItself:
    """The Runner of a node that calls its ``evaluate``.

    Raises DeviceError, which names class, file and line, for whatever that raises.
    """

    def __init__(self, node: Op) -> None:
        self._node = node
        outputs = node.outputs()
        self._is_known = all(o.element_type.is_static() and o.partial_shape.is_static for o in outputs)

    def __call__(self, variables: MutableMapping[str, np.ndarray], *arrays: np.ndarray) -> list[np.ndarray]:
        node = self._node
        made = node if self._is_known else self._specialized(arrays)
        outputs = [_empty(made, index) for index in range(made.get_output_size())]
        try:
            done = node.evaluate(outputs, [_read_only(array) for array in arrays])
        except Exception as error:
            self._fail(error)
        if done is not True:
            raise DeviceError(f"{self._where()} returned {done!r}: it returns True when it has computed the outputs")
        for index, tensor in enumerate(outputs):
            if not node.get_output_partial_shape(index).compatible(tensor.shape):
                expected = node.get_output_partial_shape(index)
                raise DeviceError(f"{self._where()} made output {index} of shape {list(tensor.shape)}, not {expected}")
        return [tensor.data for tensor in outputs]

    def _specialized(self, arrays: Sequence[np.ndarray]) -> Op:
        """The node for inputs of these types and shapes, from which it infers those of the outputs."""
        sources = []
        for index, (value, array) in enumerate(zip(self._node.input_values(), arrays)):
            is_known = index in self._node.shape_inputs or is_constant(value)
            sources.append((Constant(array) if is_known else Parameter(Type(array.dtype), array.shape)).output(0))
        return self._node.clone_with_new_inputs(sources)

    def _where(self) -> str:
        node, cls = self._node, type(self._node)
        return f"{node.type_info.name} '{node.friendly_name}': evaluate of {cls.__qualname__} in {_file_of(cls)}"

    def _fail(self, error: Exception) -> NoReturn:
        file = _file_of(type(self._node))
        # The innermost line of the class' own file: what it calls elsewhere is seldom what is wrong.
        frames = [f for f in traceback.extract_tb(error.__traceback__)[1:] if f.filename == file]
        line = f", line {frames[-1].lineno}," if frames else ""
        problem = str(error) if isinstance(error, HeteroError) else f"{type(error).__name__}: {error}"
        raise DeviceError(f"{self._where()}{line} failed: {problem}") from error


def _file_of(cls: type) -> str:
    code = getattr(inspect.unwrap(cls.evaluate), "__code__", None)
    return code.co_filename if code else cls.__module__


def _empty(node: Op, index: int) -> Tensor:
    kind, shape = node.get_output_element_type(index), node.get_output_partial_shape(index)
    if kind.is_dynamic():
        node.fail(f"the element type of output {index} is not known when it is computed")
    # Of a shape that depends on data only the rank is known.
    return Tensor(kind, shape.to_shape() if shape.is_static else [0] * (len(shape) if shape.has_rank else 1))


def _read_only(array: np.ndarray) -> Tensor:
    """Others read the same memory, which may even be a Constant's."""
    view = array.view()
    view.flags.writeable = False
    return Tensor(view, shared_memory=True)
