"""TensorFlow's raw operators as the oracle: graphs of one operator each, run by TensorFlow, hetero and OpenVINO.

``python -m tests.frameworks.tensorflow.operators [--no-openvino] [OPERATOR …]`` prints the cases that differ from
TensorFlow, and how many agree.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

from tests.frameworks.tensorflow.operator_cases import CASES
from tests.frameworks.tensorflow.raw_case import Case, Fixed, Quantized

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# The kernels of oneDNN differ from those that the documentation describes.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

AGREES = "agrees"
_TOLERANCE = 1e-4
# A part of OpenVINO's message for an unknown operator.
_NOT_TRANSLATED = "No conversion rule found"
# Inputs that tf.raw_ops calls otherwise than the definitions of the operators.
_PYTHON_NAMES = {
    "t": "x",
    "e": "y",
    "reduction_indices": "axis",
    "split_dim": "axis",
    "dim": "axis",
    "input": "condition",
}


class Prepared(NamedTuple):
    """A case's graph, its inputs by tensor name, and TensorFlow's outputs by tensor name."""

    graph: bytes
    feeds: dict[str, np.ndarray]
    expected: dict[str, np.ndarray]


class Outcome(NamedTuple):
    """What became of a case: AGREES or why not, by hetero and by OpenVINO ("" if it did not run)."""

    label: str
    hetero: str
    openvino: str = ""


def prepare(case: Case, is_dynamic: bool) -> Prepared:
    """Build a graph of one operator and run it by TensorFlow. ``is_dynamic``: dimensions of inputs are unknown."""
    import tensorflow as tf
    from tensorflow.python.framework import op_def_registry

    feeds: dict[str, np.ndarray] = {}

    def tensor(value: Any) -> Any:
        if isinstance(value, list):
            return [tensor(one) for one in value]
        if isinstance(value, Quantized):
            return tf.bitcast(tensor(value.array), tf.as_dtype(value.kind))
        if isinstance(value, Fixed):
            return tf.constant(value.array)
        if np.iscomplexobj(value):
            return tf.raw_ops.Complex(real=tensor(value.real.copy()), imag=tensor(value.imag.copy()), Tout=value.dtype)
        name = f"in{len(feeds)}"
        value = np.asarray(value)
        shape = [None] * value.ndim if is_dynamic else value.shape
        kind = tf.string if value.dtype.kind in "OU" else tf.as_dtype(value.dtype)
        placeholder = tf.compat.v1.placeholder(kind, shape, name)
        feeds[f"{name}:0"] = value
        return placeholder

    with tf.Graph().as_default() as graph:
        arguments = op_def_registry.get(case.operator).input_arg
        function = getattr(tf.raw_ops, case.operator)
        known = inspect.signature(function).parameters
        inputs = {
            argument.name if argument.name in known else _PYTHON_NAMES[argument.name]: tensor(value)
            for argument, value in zip(arguments, case.inputs, strict=True)
        }
        attributes = {
            name: tf.as_dtype(value[3:]) if _is_type(value) else value for name, value in case.attributes.items()
        }
        result = function(**inputs, **attributes)
        # A list of outputs is within the tuple of all outputs, if there are others.
        outputs = tf.nest.flatten(result)
        outputs = outputs if case.outputs is None else [outputs[index] for index in case.outputs]
        names = []
        for output in outputs:
            parts = [tf.math.real(output), tf.math.imag(output)] if output.dtype.is_complex else [output]
            for part in parts:
                if part.dtype.is_quantized:
                    part = tf.bitcast(part, {tf.qint8: tf.int8, tf.quint8: tf.uint8, tf.qint32: tf.int32}[part.dtype])
                names.append(tf.identity(part, f"out{len(names)}").name)
        with tf.compat.v1.Session(graph=graph) as session:
            found = session.run(names, feeds)
        return Prepared(graph.as_graph_def().SerializeToString(), feeds, dict(zip(names, map(_decoded, found))))


def _is_type(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("tf.")


def _decoded(array: Any) -> np.ndarray:
    """Return TensorFlow's array with strings instead of bytes."""
    array = np.asarray(array)
    if array.dtype.kind not in "OS":
        return array
    return np.array([one.decode() for one in array.reshape(-1).tolist()], np.str_).reshape(array.shape)


def run_hetero(prepared: Prepared) -> dict[str, np.ndarray]:
    import hetero
    from hetero.frontend.tensorflow.frontend import TensorflowFrontEnd

    model = TensorflowFrontEnd().convert(prepared.graph)
    compiled = hetero.Core().compile_model(model, "TEMPLATE")
    feeds = {name: value for name, value in prepared.feeds.items() if _has_name(model.inputs, name)}
    results = compiled(feeds)
    return {name: np.asarray(results[name]) for name in prepared.expected}


def _has_name(ports: Sequence[Any], name: str) -> bool:
    return any(name in port.names for port in ports)


def run_openvino(prepared: Prepared) -> dict[str, np.ndarray]:
    import tempfile
    from pathlib import Path

    import openvino

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.pb")
        file.write_bytes(prepared.graph)
        compiled = openvino.Core().compile_model(file, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    known = {name for port in compiled.inputs for name in port.get_names()}
    results = compiled({name: value for name, value in prepared.feeds.items() if name in known})
    return {name: np.asarray(results[name]) for name in prepared.expected}


def compare(case: Case, found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> str:
    """Return AGREES or the first difference."""
    for name, wanted in expected.items():
        array = found[name]
        if array.shape != wanted.shape:
            return f"{name} has the shape {array.shape} instead of {wanted.shape}"
        if array.dtype != wanted.dtype and not (array.dtype.kind in "OUS" and wanted.dtype.kind in "OUS"):
            return f"{name} has the type {array.dtype} instead of {wanted.dtype}"
        if case.is_random:
            continue
        if wanted.dtype.kind == "U":
            if array.astype(np.str_).tolist() != wanted.tolist():
                return f"{name} is {array.tolist()} instead of {wanted.tolist()}"
            continue
        one, other = (each if each.dtype.kind in "biu" else each.astype(np.float64) for each in (array, wanted))
        tolerance = case.tolerance or _TOLERANCE
        if not np.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True):
            with np.errstate(all="ignore"):
                return f"{name} differs by {np.nanmax(abs(one.astype(np.float64) - other.astype(np.float64)))}"
    return AGREES


def outcome(case: Case, label: str, is_dynamic: bool, runtime: str) -> str:
    """Return AGREES or the reason why a runtime, "hetero" or "openvino", does not."""
    try:
        prepared = prepare(case, is_dynamic)
    except Exception as error:
        return f"TensorFlow fails: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
    try:
        found = (run_hetero if runtime == "hetero" else run_openvino)(prepared)
        return compare(case, found, prepared.expected)
    except Exception as error:
        text = " ".join(str(error).split())
        return f"{type(error).__name__}: {_NOT_TRANSLATED if _NOT_TRANSLATED in text else text[-400:]}"


def labelled(operators: Sequence[str] = ()) -> list[tuple[Case, str, bool]]:
    """Return the cases of operators (default: all) with their labels, each with known and with unknown dimensions."""
    counts: Counter[str] = Counter()
    result = []
    for case in CASES:
        number = counts[case.operator]
        counts[case.operator] += 1
        if operators and case.operator not in operators:
            continue
        for is_dynamic in (False,) if case.is_static else (False, True):
            result.append((case, f"{case.operator}-{number}{'-dynamic' if is_dynamic else ''}", is_dynamic))
    return result


def run_all(operators: Sequence[str], runtime: str) -> dict[str, str]:
    """Return the outcomes of cases by label, computed in processes that may crash."""
    pending, outcomes = labelled(operators), {}
    while pending:
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            futures = [(item, pool.submit(outcome, *item, runtime)) for item in pending]
            pending = []
            for item, future in futures:
                try:
                    outcomes[item[1]] = future.result()
                except BrokenProcessPool:
                    # Only the first of them crashed; the others did not run.
                    crashed = not pending and item[1] not in outcomes
                    pending.append(item)
                    if crashed:
                        outcomes[item[1]] = "crashed"
        pending = [item for item in pending if item[1] not in outcomes]
    return outcomes


def report(arguments: Sequence[str]) -> list[Outcome]:
    """Print the cases that differ, and how many agree; return all outcomes."""
    operators = [one for one in arguments if not one.startswith("--")]
    found = run_all(operators, "hetero")
    other = {} if "--no-openvino" in arguments else run_all(operators, "openvino")
    outcomes = [Outcome(label, text, other.get(label, "")) for label, text in found.items()]
    for one in outcomes:
        if one.hetero != AGREES:
            print(f"{one.label}: {one.hetero}{'' if one.openvino != AGREES else ' (OpenVINO agrees)'}")
    agreed = sum(one.hetero == AGREES for one in outcomes)
    theirs = sum(one.openvino == AGREES for one in outcomes)
    names = {one.label.split("-")[0] for one in outcomes}
    print(f"{len(names)} operators, {len(outcomes)} cases: hetero {agreed}, OpenVINO {theirs if other else '-'}")
    if other:
        lacking = [one for one in outcomes if _NOT_TRANSLATED in one.openvino]
        kinds = sorted({one.label.split("-")[0] for one in lacking})
        print(f"OpenVINO does not convert {len(lacking)} cases of {len(kinds)} operators: {', '.join(kinds)}")
    if "--openvino-failures" in arguments:
        for one in outcomes:
            if one.openvino != AGREES:
                print(f"OpenVINO: {one.label}: {one.openvino}")
    return outcomes


if __name__ == "__main__":
    report(sys.argv[1:])
