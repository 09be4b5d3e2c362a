"""TensorFlow Lite's interpreter as the oracle, and comparison with it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from os import PathLike, fspath

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

Arrays = dict[str, np.ndarray]

# The reference kernels, which define what an operator means; the optimized ones; and those with XNNPACK, the default.
REFERENCE = OpResolverType.BUILTIN_REF
FAST = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
DEFAULT = OpResolverType.AUTO


class LiteRT:
    """A model in the interpreter. A call takes the inputs, and returns the outputs, by their tensor names.

    Variables keep their contents between calls. ``keep``: intermediate tensors stay readable.
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
        """The names of the quantized outputs."""
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
        """Return the shape of a tensor of the main graph after a call."""
        details = next(d for d in self._interpreter.get_tensor_details() if d["index"] == index)
        return tuple(int(dimension) for dimension in details["shape"])


def assert_close(
    found: Mapping[str, np.ndarray],
    expected: Arrays,
    quantized: Collection[str] = (),
    tolerance: float = 1e-5,
    steps: int = 1,
) -> None:
    """Assert equal types and shapes, and floats within ``tolerance`` of the largest magnitude.

    Integers must be equal, except that those of ``quantized`` outputs may differ by ``steps``.
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
