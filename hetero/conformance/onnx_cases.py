"""The backend test cases of the ONNX project: models, mostly of one operator, with inputs and expected outputs.

They come with the onnx package. Cases that need a download ("real" models) are left out.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.test_case import TestCase

from hetero import CompiledModel, Core, Model

# The relative distance between adjacent numbers.
_STEPS = {"float16": 2**-10, "bfloat16": 2**-7}
# The expected results of Fourier transforms are numpy's in f32. Where terms cancel out, they are rounding errors of the
# largest terms.
_TRANSFORMS, _ROUNDING = "test_dft", 2**-23


@functools.cache
def cases(*kinds: str) -> dict[str, TestCase]:
    """Return the cases of these kinds by name: "node", "simple", "pytorch-converted", "pytorch-operator"."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # from the numpy code that computes the expected results
        return {case.name: case for kind in kinds for case in load_model_tests(kind=kind)}


def read_case(core: Core, case: TestCase) -> Model:
    """Read the model of a case. Raises FrontendError if it cannot be read."""
    return core.read_model(case.model.SerializeToString() if case.model else _folder(case) / "model.onnx")


def check_case(compiled: CompiledModel, case: TestCase, steps: float = 0) -> None:
    """Run a case. Raises AssertionError if a result differs from the expected one, and whatever the model raises.

    ``steps``: tolerance of f16 and bf16 results, in steps of their type, if it exceeds the tolerance of the case.
    """
    for inputs, expected in _data_sets(case):
        results = compiled(list(inputs))
        actual = [results[port] for port in compiled.outputs]
        assert len(actual) == len(expected), f"{len(actual)} results, {len(expected)} expected"
        for index, (ours, theirs) in enumerate(zip(actual, expected)):
            _assert_same(ours, theirs, case, steps, f"output {index}")


def _assert_same(actual: Any, expected: Any, case: TestCase, steps: float, label: str) -> None:
    if isinstance(expected, (list, tuple)):
        assert isinstance(actual, (list, tuple)), f"{label} is a {type(actual).__name__}, not a sequence"
        assert len(actual) == len(expected), f"{label} has {len(actual)} items, not {len(expected)}"
        for index, (ours, theirs) in enumerate(zip(actual, expected)):
            _assert_same(ours, theirs, case, steps, f"{label}, item {index}")
        return
    if expected is None:
        assert actual is None, f"{label} is {actual!r}, not None"
        return
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"{label} has shape {actual.shape}, not {expected.shape}"
    if expected.dtype.kind in "OUST":
        assert actual.astype(np.str_).tolist() == expected.astype(np.str_).tolist(), f"{label} differs"
        return
    assert actual.dtype == expected.dtype, f"{label} is of {actual.dtype}, not {expected.dtype}"
    rtol = max(case.rtol, steps * _STEPS.get(expected.dtype.name, 0))
    if expected.dtype.kind == "V":  # types of ml_dtypes, which assert_allclose cannot compare
        actual, expected = actual.astype(np.float32), expected.astype(np.float32)
    atol = case.atol
    if case.name.startswith(_TRANSFORMS):
        atol = max(atol, _ROUNDING * np.abs(expected).max())
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol, err_msg=label)


def _data_sets(case: TestCase) -> Iterator[tuple[list[Any], list[Any]]]:
    """Yield the inputs and expected outputs of each data set of a case."""
    if case.data_sets is not None:
        for inputs, outputs in case.data_sets:
            yield [_as_array(value) for value in inputs], [_as_array(value) for value in outputs]
        return
    model = onnx.load(_folder(case) / "model.onnx", load_external_data=False)
    for folder in sorted(_folder(case).glob("test_data_set_*")):
        yield (
            [_read(folder / f"input_{i}.pb", info.type) for i, info in enumerate(model.graph.input)
             if (folder / f"input_{i}.pb").exists()],
            [_read(folder / f"output_{i}.pb", info.type) for i, info in enumerate(model.graph.output)],
        )  # fmt: skip


def _folder(case: TestCase) -> Path:
    assert case.model_dir, f"{case.name} has neither a model nor a folder"
    return Path(case.model_dir)


def _as_array(value: Any) -> Any:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _read(path: Path, kind: onnx.TypeProto) -> Any:
    data = path.read_bytes()
    if kind.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))
