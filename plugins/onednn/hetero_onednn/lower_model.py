"""Lower a model of static shapes to a program."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.graph import Model, Node, is_terminal
from hetero.passes import align_prelu_slopes, fuse_elementwise, sink_channel_shuffles
from hetero_onednn.constants import Constants
from hetero_onednn.fusion import FUSION_RULES
from hetero_onednn.library.api import Argument, DataType, OneDnnError
from hetero_onednn.library.threads import needs_one_thread, one_thread
from hetero_onednn.lowering import Lowering, unsupported
from hetero_onednn.operation import PrimitiveOperation
from hetero_onednn.primitives import implementation_of
from hetero_onednn.program import CopiedOutput, PrimitiveProgram, PrimitiveStep, Value


def lower_model(model: Model, constants: Constants, precision: DataType) -> PrimitiveProgram:
    """Return the program of a model, which computes values of f32 in ``precision``.

    Raises UnsupportedOperationError if oneDNN has no primitive for an operation.
    """
    align_prelu_slopes(model)  # those of data whose rank was unknown before
    sink_channel_shuffles(model)  # those of values whose shape was unknown before
    on_one_thread = needs_one_thread(model)
    fuse_elementwise(model, FUSION_RULES)
    with one_thread(on_one_thread):
        return _lower_all(model, Lowering(constants, precision), on_one_thread)


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
        if step.arguments[Argument.dst].buffer in read:
            needed.append(step)
            read.update(value.buffer for value in step.arguments.values())
    return needed[::-1]


def _lower(lowering: Lowering, node: Node) -> None:
    operation = PrimitiveOperation(node)
    main = operation.main
    if all(0 in output.shape for output in node.outputs()):
        return
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
