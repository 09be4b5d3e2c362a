"""Recurrent networks: one gemm for the inputs of all steps, then one or two launches per step.

States are passed between steps in the type of computation; only results are rounded to narrow types.
"""

from __future__ import annotations

import math
from typing import get_args

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Output
from hetero_opencl.device.launch import Buffer
from hetero_opencl.kernels.common.definition import ProductTypes, lowers, source, unsupported_non_float, wide_type
from hetero_opencl.kernels.linear.gemm import launch_product, right_matrices
from hetero_opencl.kernels.linear.product import Batch, Factors, Product
from hetero_opencl.lowering.lowering import Argument, Lowering

Cells = ops.RNNCell | ops.GRUCell | ops.LSTMCell | ops.LSTMCellV1
Sequences = ops.RNNSequence | ops.GRUSequence | ops.LSTMSequence | ops.PeepholeLSTMSequence

# Formula of x, alpha {a} and beta {b}, and the defaults of alpha and beta. Every formula propagates NaN.
_ACTIVATIONS: dict[str, tuple[str, float, float]] = {
    "affine": ("({a} * {x} + {b})", 1.0, 0.0),
    "elu": ("({x} > 0 ? {x} : {a} * expm1({x}))", 1.0, 0.0),
    "hardsigmoid": ("clamped({a} * {x} + {b}, 0, 1)", 0.2, 0.5),
    "leakyrelu": ("({x} > 0 ? {x} : {a} * {x})", 0.01, 0.0),
    "relu": ("({x} < 0 ? 0 : {x})", 0.0, 0.0),
    "scaledtanh": ("({a} * tanh({b} * {x}))", 1.0, 1.0),
    "sigmoid": ("sigmoid({x})", 0.0, 0.0),
    "softplus": ("(({x} < 0 ? 0 : {x}) + log1p(exp(-fabs({x}))))", 0.0, 0.0),
    "softsign": ("({x} / (1 + fabs({x})))", 0.0, 0.0),
    "tanh": ("tanh({x})", 0.0, 0.0),
    "thresholdedrelu": ("({x} > {a} ? {x} : 0)", 1.0, 0.0),
}


@lowers(*get_args(Cells), *get_args(Sequences), unsupported=unsupported_non_float)
def recurrent(lowering: Lowering, node: Cells | Sequences) -> None:
    inputs = dict(zip((name.strip("?") for name in node.input_names), node.input_values()))
    is_sequence = isinstance(node, Sequences)
    data, weights, biases = (inputs[name] for name in ("X", "W", "B"))
    text = _text(node, inputs)
    hidden, kind = node.hidden_size, data.element_type
    times = data.shape[1] if is_sequence else 1
    directions = weights.shape[0] if is_sequence else 1
    count = data.shape[0] * directions * hidden
    operands: list[Argument] = [_project_inputs(lowering, data, weights, directions), inputs["R"], biases]
    states = [_to_compute_type(lowering, text, inputs[name]) for name in inputs if name.startswith("initial")]
    results = node.outputs()[1:] if is_sequence else node.outputs()
    rest = [inputs["P"]] if "P" in inputs else []
    if is_sequence:
        rest += [inputs["sequence_lengths"], node.output(0)]
    backwards = getattr(node, "direction", "forward")
    first_reverse = {"forward": directions, "reverse": 0, "bidirectional": 1}[backwards]
    # A sequence of zero steps still has last states.
    for step in range(max(times, 1)):
        sizes = (step, times, hidden, directions, first_reverse)
        gated: list[Buffer] = []
        if isinstance(node, ops.GRUCell | ops.GRUSequence) and not node.linear_before_reset:
            gated = [lowering.scratch(count, wide_type(kind).size) for _ in range(2)]
            lowering.launch_flat(text, "reset_states", [*operands, states[0], *gated, *sizes], count)
        after = [lowering.scratch(count, wide_type(kind).size) for _ in states]
        new: list[Argument] = [after[0], results[0]]
        if len(states) > 1:  # the cell state
            new += states[1], after[1], results[1]
        lowering.launch_flat(text, "next_states", [*operands, states[0], *gated, *new, *rest, *sizes], count)
        states = after


def _project_inputs(lowering: Lowering, data: Output, weights: Output, directions: int) -> Buffer:
    """Return the inputs of all steps times W, ``[directions, N, time, gates * hidden]``, without biases."""
    rows, features, columns = math.prod(data.shape[:-1]), data.shape[-1], weights.shape[-2]
    kind = data.element_type
    wide = wide_type(kind)
    projected = lowering.scratch(directions * rows * columns, wide.size)
    left, right = Factors(lowering.buffer(data), features, 1), right_matrices(lowering, weights, True)
    batch, types = Batch(1, directions, (0, 0), (0, features * columns)), ProductTypes(kind, kind, wide)
    product = Product(left, right, projected, rows, columns, features, batch, types=types)
    launch_product(lowering, product)
    return projected


def _to_compute_type(lowering: Lowering, text: str, value: Output) -> Buffer:
    """Return a value in the type of computation."""
    if wide_type(value.element_type) is value.element_type:
        return lowering.buffer(value)
    count = math.prod(value.shape)
    buffer = lowering.scratch(count)
    lowering.launch_flat(text, "to_compute_type", [value, buffer], count)
    return buffer


def _text(node: Cells | Sequences, inputs: dict[str, Output]) -> str:
    places = {}
    if isinstance(node, ops.RNNCell | ops.RNNSequence):
        kind = "RNN"
    elif isinstance(node, ops.GRUCell | ops.GRUSequence):
        kind = "GRU" if node.linear_before_reset else "RESET_FIRST"
    else:
        kind = "LSTM"
        places = {f"AT_{letter.upper()}": place for place, letter in enumerate(node.weights_format)}
    types = {"DATA": node.get_input_element_type(0)}
    if "sequence_lengths" in inputs:
        types["INDEX"] = inputs["sequence_lengths"].element_type
    macros: dict[str, object] = {
        **places,
        "KIND": kind,
        "GATES": node.gates,
        "BIASES": node.gates + node.linear_before_reset,
        "SEQUENCE": int("sequence_lengths" in inputs),
        "PEEPHOLES": int("P" in inputs),
        "COUPLED": int(getattr(node, "input_forget", False)),
    }
    names = ("GATE", "CANDIDATE", "CELL_ACTIVATION")[: len(node.activations)]
    macros |= {f"{name}(x)": _activation(node, index) for index, name in enumerate(names)}
    return source("recurrent", types, **macros)


def _activation(node: Cells | Sequences, index: int) -> str:
    """Return an activation of the node as a C expression of x."""
    is_double = node.get_input_element_type(0) is Type.f64
    formula, *numbers = _ACTIVATIONS[node.activations[index]]
    parameters = node.activations_alpha[index : index + 1], node.activations_beta[index : index + 1]
    a, b = (_number(parameter[0] if parameter else other, is_double) for parameter, other in zip(parameters, numbers))
    if node.clip and index < 2:  # the cell state is not clipped
        limit = _number(node.clip, is_double)
        formula = formula.replace("{x}", f"clamped(x, -{limit}, {limit})")
    return formula.format(x="(x)", a=a, b=b)


def _number(value: float, is_double: bool) -> str:
    if not math.isfinite(value):
        return "NAN" if math.isnan(value) else "(-INFINITY)" if value < 0 else "INFINITY"
    return f"({float(value)!r}{'' if is_double else 'f'})"
