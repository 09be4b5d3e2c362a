"""Lower a model to programs, with the rules for the pass ``fuse_elementwise``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np

from hetero import ops
from hetero.core.lengths.guards import Guards
from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Output, constant_array, is_terminal
from hetero.passes import (
    FusionRules,
    align_prelu_slopes,
    fold_constants,
    fuse_elementwise,
    remove_identities,
    sink_channel_shuffles,
)
from hetero.passes.bounds.value_bounds import ValueBounds
from hetero.reference import evaluate
from hetero_onednn.keep_nan import keep_nan, loses_nan
from hetero_onednn.library.api import DataType, OneDnnError
from hetero_onednn.library.threads import OneThread, needs_one_thread
from hetero_onednn.lowering import Lowering, PrimitiveOperation, unsupported
from hetero_onednn.primitives import implementation_of
from hetero_onednn.primitives.post_ops import ELEMENTWISE, post_ops_of
from hetero_onednn.primitives.reduction import scales_rows
from hetero_onednn.program import Constants, CopiedOutput, PrimitiveProgram, PrimitiveStep, Value
from hetero_onednn.quantization import feeds_product, is_dequantizing, is_quantizing
from hetero_onednn.shape_programs import ShapePrograms
from hetero_onednn.varying_model import VaryingModel

_CONVOLUTIONS = (
    ops.Convolution, ops.GroupConvolution, ops.ConvolutionBackpropData, ops.GroupConvolutionBackpropData,
)  # fmt: skip
_ANCHORS = (*_CONVOLUTIONS, ops.MatMul)


def _is_elementwise(node: Node) -> bool:
    if feeds_product(node):
        return False
    if is_quantizing(node) or is_dequantizing(node):
        return True
    values = [*node.input_values(), node.output(0)]
    return type(node) in ELEMENTWISE and all(value.element_type is Type.f32 for value in values)


def _joins(node: Node, group: Sequence[Node]) -> bool:
    """Return whether the nodes of a group are post-ops of a node: its first node reads it, and nothing else does."""
    return all(target.node is group[0] for target in node.output(0).get_target_inputs()) and _follows(
        group[0], node.output(0)
    )


def _follows(node: Node, running: Output) -> bool:
    """Return whether a node can run as post-ops on a value, which must have the shape of its output."""
    positions = [index for index, value in enumerate(node.input_values()) if value == running]
    if len(positions) != 1 or post_ops_of(node, positions[0]) is None:
        return False
    shape = node.output(0).shape
    others = [value for index, value in enumerate(node.input_values()) if index != positions[0]]
    return running.shape == shape and all(is_broadcast(value.shape, shape) for value in others)


def is_broadcast(shape: Sequence[int], target: Sequence[int]) -> bool:
    """Return whether primitives read an operand of a shape: all elements, a single one, or one per channel."""
    padded = (1,) * (len(target) - len(shape)) + tuple(shape)
    wide = [axis for axis, length in enumerate(padded) if length > 1]
    return padded == tuple(target) or not wide or wide in ([1], [len(target) - 1])


def _takes_epilogue(anchor: Node, group: Sequence[Node]) -> bool:
    if isinstance(anchor, (ops.MVN, ops.MVNV2)):
        return _joins(anchor, group) and scales_rows(anchor, group[0])
    if type(anchor) not in _ANCHORS or anchor.get_element_type() is not Type.f32:
        return False
    if isinstance(anchor, ops.MatMul) and len(anchor.output(0).shape) < 2:
        return False
    return _joins(anchor, group)


# A primitive takes 32 post-ops, and a node becomes up to two.
FUSION_RULES = FusionRules(_is_elementwise, _takes_epilogue, joins=_joins, max_nodes=16)


def lower_model(
    model: Model,
    guards: Guards | None = None,
    *,
    constants: Constants,
    precision: DataType,
    largest_input: float = math.inf,
) -> ShapePrograms:
    """Return the programs of a model, which compute values of f32 in ``precision``.

    ``guards`` are those of the Lengths in its shapes, None if all shapes are numbers. The programs keep NaN that
    results from real inputs up to ``largest_input``; if that is finite, they may check values instead. Raises
    UnsupportedOperationError if oneDNN has no primitive for an operation.
    """
    varying = VaryingModel(model, guards) if guards is not None else None
    _fold_empty(model)
    remove_identities(model, keeps_outputs=False)
    align_prelu_slopes(model)  # those of data whose rank was unknown before
    sink_channel_shuffles(model)  # those of values whose shape was unknown before
    with guards.choosing(is_estimate=True) if guards is not None else nullcontext():
        on_one_thread = needs_one_thread(model)
    if loses_nan(model):
        checks = largest_input < math.inf and precision is DataType.f32
        keep_nan(model, ValueBounds(largest_input, constants.derived), checks)
    fuse_elementwise(model, FUSION_RULES)
    if varying is not None:
        varying.close()

    def lower(model: Model) -> PrimitiveProgram:
        with OneThread(on_one_thread):
            return _lower_all(model, Lowering(constants, precision), on_one_thread)

    return ShapePrograms(model, varying, lower, constants.is_full)


def _fold_empty(model: Model) -> None:
    """Replace values without elements by constants, and what follows from them, such as a sum of nothing."""
    empty = [output for node in model.get_ordered_ops() for output in node.outputs() if 0 in output.shape]
    for output in empty:
        if not isinstance(output.node, Constant):
            output.replace(Constant(np.empty(output.shape, output.element_type.to_dtype())).output(0))
    if not empty:
        return
    for node in model.get_ordered_ops():
        arrays = [array for value in node.input_values() if (array := constant_array(value)) is not None]
        # No primitive reads nothing. Results of it are larger than their inputs, which limits ``fold_constants``.
        if not is_terminal(node) and len(arrays) == node.get_input_size() and not all(map(np.size, arrays)):
            for output, array in zip(node.outputs(), evaluate(node, arrays)):
                output.replace(Constant(array).output(0))
    fold_constants(model)


def _lower_all(model: Model, lowering: Lowering, on_one_thread: bool) -> PrimitiveProgram:
    inputs = [lowering.add_input(index, parameter) for index, parameter in enumerate(model.parameters)]
    for node in model.get_ordered_ops():
        if not is_terminal(node):
            _lower(lowering, node)
    parameters: list[Node] = [*model.parameters]
    outputs = [lowering.output(index, result, parameters) for index, result in enumerate(model.results)]
    return PrimitiveProgram(model, _needed(lowering.steps, outputs), inputs, outputs, on_one_thread)


def _needed(steps: Sequence[PrimitiveStep], outputs: Sequence[Value | CopiedOutput]) -> list[PrimitiveStep]:
    """Return the steps on which outputs depend: products of integers do not read the real numbers."""
    read = {output.buffer for output in outputs if isinstance(output, Value)}
    needed: list[PrimitiveStep] = []
    for step in reversed(steps):
        if step.result.buffer in read:
            needed.append(step)
            read.update(value.buffer for value in step.arguments.values())
    return needed[::-1]


def _lower(lowering: Lowering, node: Node) -> None:
    operation = PrimitiveOperation(node)
    main = operation.main
    implementation = implementation_of(main)
    reason = "no primitive"
    try:
        if implementation is not None:
            return implementation.lower(lowering, operation)
    except OneDnnError as error:
        if not error.is_unimplemented:
            raise
        reason = str(error)
    raise unsupported(operation, reason)
