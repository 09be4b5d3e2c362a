"""TensorFlow Lite's own interpreter as the oracle, and comparing with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from os import PathLike, fspath

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

Arrays = dict[str, np.ndarray]

# The plain kernels that say what an operator means; the fast ones; and those with XNNPACK, which runs by default.
REFERENCE = OpResolverType.BUILTIN_REF
FAST = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
DEFAULT = OpResolverType.AUTO


class LiteRT:
    """A model in the interpreter: called with inputs by the names of their tensors, it gives the outputs by theirs.

    Variables keep their contents from call to call. ``keep``: results in the middle stay readable.
    """

    def __init__(self, model: bytes | PathLike, resolver: OpResolverType = REFERENCE, keep: bool = False) -> None:
        source = {"model_content": model} if isinstance(model, bytes) else {"model_path": fspath(model)}
        self._interpreter = Interpreter(
            **source,
            num_threads=1,
            experimental_op_resolver_type=resolver,
            experimental_preserve_all_tensors=keep,
        )
        self._inputs = {details["name"]: details for details in self._interpreter.get_input_details()}
        self._shapes: dict[str, tuple[int, ...]] | None = None

    @property
    def quantized(self) -> set[str]:
        """The outputs whose elements stand for real numbers in steps."""
        outputs = self._interpreter.get_output_details()
        return {details["name"] for details in outputs if details["quantization_parameters"]["scales"].size}

    def __call__(self, inputs: Mapping[str, np.ndarray]) -> Arrays:
        shapes = {name: array.shape for name, array in inputs.items()}
        if shapes != self._shapes:
            for name, details in self._inputs.items():
                if tuple(details["shape"]) != shapes[name]:
                    self._interpreter.resize_tensor_input(details["index"], shapes[name])
            self._interpreter.allocate_tensors()
            self._shapes = shapes
        for name, details in self._inputs.items():
            self._interpreter.set_tensor(details["index"], inputs[name])
        self._interpreter.invoke()
        return {d["name"]: self._interpreter.get_tensor(d["index"]) for d in self._interpreter.get_output_details()}

    def shape(self, index: int) -> tuple[int, ...]:
        """The shape that a tensor of the main graph has after a call."""
        details = next(d for d in self._interpreter.get_tensor_details() if d["index"] == index)
        return tuple(int(dimension) for dimension in details["shape"])


def assert_close(
    found: Mapping[str, np.ndarray],
    expected: Arrays,
    quantized: Collection[str] = (),
    tolerance: float = 1e-5,
    steps: int = 1,
) -> None:
    """Same outputs, types and shapes; floats differ by ``tolerance`` of the largest magnitude at most.

    Integers are equal, but those of ``quantized`` outputs may be ``steps`` apart.
    """
    for name, wanted in expected.items():
        array = np.asarray(found[name])
        assert (array.dtype, array.shape) == (wanted.dtype, wanted.shape), name
        if wanted.dtype.kind in "iu" and name in quantized:
            apart = np.abs(array.astype(np.int64) - wanted.astype(np.int64))
            assert apart.max(initial=0) <= steps, f"{name}: {np.count_nonzero(apart > steps)} of {apart.size} differ"
        elif wanted.dtype.kind in "fcV":
            _assert_close_reals(array, wanted, tolerance, name)
        else:
            np.testing.assert_array_equal(array, wanted, name)


def _assert_close_reals(array: np.ndarray, wanted: np.ndarray, tolerance: float, name: str) -> None:
    if wanted.dtype.kind != "c":
        array, wanted = array.astype(np.float64), wanted.astype(np.float64)
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(np.isfinite(array), finite, name)
    np.testing.assert_array_equal(array[~finite], wanted[~finite], name)
    error = np.abs(array[finite] - wanted[finite]).max(initial=0)
    largest = np.abs(wanted[finite]).max(initial=0)
    assert error <= tolerance * largest, f"{name}: {error} of {largest}"
