"""Operations written as ONNX models, which ONNX Runtime runs; hetero runs what ONNX Runtime has no kernel for."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence

import numpy as np
import onnx
import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as pybind

import hetero
from hetero.frontend.onnx.writer import model_proto
from hetero.graph import Node, Parameter
from hetero.system.errors import FrontendError
from tests.tiers import IS_FULL

# ONNX defines other results for a maximum or minimum of nothing, and none for indices out of range.
_UNDEFINED = {"reduce_max", "reduce_min", "gather"}
# ONNX Runtime has no kernel for an operation or its type, or numpy does not have the type of an input.
_NO_KERNEL = (pybind.NotImplemented, pybind.InvalidGraph, RuntimeError)
_checked: set[tuple[str, str, int]] = set()
_core = hetero.Core()


def is_checked_in_onnx(name: str, opset: int) -> bool:
    """Return whether a call of ``same_results`` for this factory is also checked in ONNX."""
    # In the full tier every call is checked, else the first one of each operation in a file.
    call = os.environ["PYTEST_CURRENT_TEST"].partition("::")[0], name, opset
    is_first = call not in _checked
    _checked.add(call)
    return is_first or (IS_FULL and name not in _UNDEFINED)


def same_in_onnx(
    node: Node, parameters: list[Parameter], arrays: list[np.ndarray], expected: list[np.ndarray], tolerance: float
) -> None:
    """Assert that the written ONNX model of a node is valid and gives the expected results, if it can be written."""
    try:
        proto = model_proto(hetero.Model(node.outputs(), parameters))
    except FrontendError as error:
        assert str(error).startswith("ONNX has no equivalent of")
        return
    onnx.checker.check_model(proto)
    # Some calls, such as einsum with ellipses of different ranks, are more than ONNX Runtime takes.
    for found, wanted in zip(run_written(proto, arrays, (Exception,)), expected, strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=max(tolerance, 1e-4), atol=max(tolerance, 1e-5))


def run_written(
    proto: onnx.ModelProto, arrays: Sequence[np.ndarray], refusals: tuple[type[Exception], ...] = _NO_KERNEL
) -> list[np.ndarray]:
    """Return the results of ONNX Runtime, or those of hetero if ONNX Runtime raises one of these exceptions."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    # It returns types that numpy does not have as u8.
    if all(port.type.tensor_type.elem_type <= onnx.TensorProto.UINT64 for port in proto.graph.output):
        with contextlib.suppress(*refusals):
            session = onnxruntime.InferenceSession(proto.SerializeToString(), options)
            feed = zip(session.get_inputs(), arrays)
            return session.run(None, {port.name: a if isinstance(a, list) else np.asarray(a) for port, a in feed})
    return list(_core.compile_model(_core.read_model(proto), "TEMPLATE")(list(arrays)).to_tuple())
