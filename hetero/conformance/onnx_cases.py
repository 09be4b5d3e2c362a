"""The ONNX project's own backend cases: models, mostly of one operator, with inputs and the outputs expected.

They come with the onnx package; those that need a download ("real" models) are not among them.
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

# From one number to the next, relative to the number.
_STEPS = {"float16": 2**-10, "bfloat16": 2**-7}
# Fourier transforms are expected as numpy computes them in f32: where terms cancel out, that is no more than what was
# rounded of the largest ones.
_TRANSFORMS, _ROUNDING = "test_dft", 2**-23


@functools.cache
def cases(*kinds: str) -> dict[str, TestCase]:
    """The cases of these kinds by name: "node" (of one operator), "simple", "pytorch-converted", "pytorch-operator"."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the numpy code that makes the expected results
        return {case.name: case for kind in kinds for case in load_model_tests(kind=kind)}


def read_case(core: Core, case: TestCase) -> Model:
    """The model of a case. Raises FrontendError."""
    return core.read_model(case.model.SerializeToString() if case.model else Path(case.model_dir) / "model.onnx")


def check_case(compiled: CompiledModel, case: TestCase, steps: float = 0) -> None:
    """Raises AssertionError where a result is not the expected one, and what running the model raises.

    ``steps``: how many steps of their type f16 and bf16 results may be off, where that is more than the case allows.
    """
    for inputs, expected in _data_sets(case):
        results = compiled(list(inputs))
        found = [results[port] for port in compiled.outputs]
        assert len(found) == len(expected), f"{len(found)} results, {len(expected)} expected"
        for index, (ours, wanted) in enumerate(zip(found, expected)):
            _assert_same(ours, wanted, case, steps, f"output {index}")


def _assert_same(found: Any, wanted: Any, case: TestCase, steps: float, place: str) -> None:
    if isinstance(wanted, (list, tuple)):
        assert isinstance(found, (list, tuple)), f"{place} is a {type(found).__name__}, not a sequence"
        assert len(found) == len(wanted), f"{place} has {len(found)} items, not {len(wanted)}"
        for index, (ours, theirs) in enumerate(zip(found, wanted)):
            _assert_same(ours, theirs, case, steps, f"{place}, item {index}")
        return
    if wanted is None:
        assert found is None, f"{place} is {found!r}, not None"
        return
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.shape == wanted.shape, f"{place} has shape {found.shape}, not {wanted.shape}"
    if wanted.dtype.kind in "OUST":
        assert found.astype(np.str_).tolist() == wanted.astype(np.str_).tolist(), f"{place} differs"
        return
    assert found.dtype == wanted.dtype, f"{place} is of {found.dtype}, not {wanted.dtype}"
    rtol = max(case.rtol, steps * _STEPS.get(wanted.dtype.name, 0))
    if wanted.dtype.kind == "V":  # types that ml_dtypes adds, for which numpy has no arithmetic of tolerances
        found, wanted = found.astype(np.float32), wanted.astype(np.float32)
    atol = case.atol
    if case.name.startswith(_TRANSFORMS):
        atol = max(atol, _ROUNDING * np.abs(wanted).max())
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=atol, err_msg=place)


def _data_sets(case: TestCase) -> Iterator[tuple[list[Any], list[Any]]]:
    if case.data_sets is not None:
        yield from ([[_as_array(value) for value in values] for values in data] for data in case.data_sets)
        return
    model = onnx.load(Path(case.model_dir) / "model.onnx", load_external_data=False)
    for folder in sorted(Path(case.model_dir).glob("test_data_set_*")):
        yield (
            [_read(folder / f"input_{i}.pb", info.type) for i, info in enumerate(model.graph.input)
             if (folder / f"input_{i}.pb").exists()],
            [_read(folder / f"output_{i}.pb", info.type) for i, info in enumerate(model.graph.output)],
        )  # fmt: skip


def _as_array(value: Any) -> Any:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _read(path: Path, kind: onnx.TypeProto) -> Any:
    data = path.read_bytes()
    if kind.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))
