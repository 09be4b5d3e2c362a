"""Lowering: from the operations of a model of static shapes to the steps of a program."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Constant, Node, Output, Parameter, Result
from hetero.system.errors import UnsupportedOperationError
from hetero_onednn.library.api import Argument, DataType, Query
from hetero_onednn.library.primitive import (
    DATA_TYPES,
    Attributes,
    BinaryOp,
    Descriptor,
    EltwiseOp,
    PostOp,
    PrimitiveDescriptor,
    any_layout,
    describe_reorder,
    extended,
    operand_argument,
    plain,
)
from hetero_onednn.program import Buffer, Constants, CopiedOutput, PrimitiveStep, Value


class PrimitiveOperation:
    """A node, or a Fused node: ``main`` and the chain of element-wise nodes after it."""

    def __init__(self, node: Node) -> None:
        self.node = node
        nodes = node.operations if isinstance(node, ops.Fused) else [node]
        #: Of any class: each family knows the attributes of its own.
        self.main: Any = nodes[0]
        self.epilogue = nodes[1:]
        # Values outside a Fused node by the Parameters of its body.
        self._outside: dict[Output, Output] = {}
        if isinstance(node, ops.Fused):
            ports = (parameter.output(0) for parameter in node.body.parameters)
            self._outside = dict(zip(ports, node.input_values()))

    @property
    def result(self) -> Output:
        return self.node.output(0)

    @cached_property
    def inputs(self) -> list[Output]:
        """The inputs of the main node, as values of the model."""
        return [self.outside(value) for value in self.main.input_values()]

    def outside(self, value: Output) -> Output:
        """Return the value of the model that a value of a Fused node's body stands for."""
        return self._outside.get(value, value)


class Lowering:
    """The steps so far, and the layouts in which each value is available."""

    def __init__(self, constants: Constants, precision: DataType) -> None:
        """``precision`` is the type in which values of f32 are computed."""
        self.precision = precision
        self.steps: list[PrimitiveStep] = []
        self.constants = constants
        self._values: dict[Output, list[Value]] = {}

    def add_input(self, index: int, parameter: Parameter) -> Value | None:
        """Add an input. Returns None if no operation reads it: then its type may be one that oneDNN does not have."""
        port = parameter.output(0)
        if all(isinstance(target.node, Result) for target in port.get_target_inputs()) or not math.prod(port.shape):
            return None
        descriptor = plain(port.shape, _data_type(port.element_type))
        value = Value(Buffer(descriptor.byte_size, input=index), descriptor)
        self.define(port, value)
        return value

    def output(self, index: int, result: Result, parameters: Sequence[Node]) -> Value | CopiedOutput:
        """Return the value of an output in the layout of its tensor."""
        source = result.input_value(0)
        if isinstance(source.node, Constant):
            return CopiedOutput(source.node.data)
        if isinstance(source.node, Parameter):
            return CopiedOutput(parameters.index(source.node))
        if not math.prod(source.shape):
            return CopiedOutput(np.empty(source.shape, source.element_type.to_dtype()))
        layout = plain(source.shape, _data_type(source.element_type))
        value = self.value(source, layout, result)
        buffer = value.buffer
        if not buffer.is_intermediate or buffer.byte_size != layout.byte_size or value.offset:
            value = self.reordered(value, layout, result)
        value.buffer.output = index
        return value

    def define(self, output: Output, value: Value) -> None:
        """Set the value of an output of a node."""
        self._values[output] = [Value(value.buffer, value.descriptor.canonical, value.offset)]

    def new_value(self, descriptor: Descriptor) -> Value:
        return Value(Buffer(descriptor.byte_size), descriptor)

    def data_type(self, value: Output) -> DataType:
        """Return the type in which a value is computed."""
        return self.precision if value.element_type is Type.f32 else _data_type(value.element_type)

    def result_type(self, operation: PrimitiveOperation, is_int8: bool) -> DataType:
        """Return the type in which a product writes its results: 8-bit integers only if it reads them."""
        return self.data_type(operation.result if is_int8 else operation.main.output(0))

    def in_type(self, value: Value, operation: PrimitiveOperation) -> Value:
        """Return the result of an operation in its type."""
        kind, own = self.data_type(operation.result), value.descriptor
        return value if own.data_type is kind else self.reordered(value, own.resized(own.dims, kind), operation.node)

    def stored_type(self, value: Output) -> DataType:
        """Return the type in which operands are read: primitives of any precision take constants of f32."""
        return _data_type(value.element_type) if isinstance(value.node, Constant) else self.data_type(value)

    def any_layout(self, value: Output, shape: Sequence[int] | None = None) -> Descriptor:
        """Return a descriptor of a value, or of another shape, for which a primitive chooses the layout."""
        return any_layout(value.shape if shape is None else shape, self.data_type(value))

    def plain_layout(self, value: Output) -> Descriptor:
        return plain(value.shape, self.data_type(value))

    def value(self, output: Output, layout: Descriptor | None = None, reader: Node | None = None) -> Value:
        """Return the value of an output in a layout, by default the one that it has.

        If it is not available in that layout, it is converted once. ``reader`` is the node that needs it.
        """
        if isinstance(output.node, Constant):
            source = plain(output.shape, _data_type(output.element_type))
            return self.constants.value(output.node.data, source, layout or source)
        values = self._values[output]
        if layout is None and values[0].descriptor.data_type != self.data_type(output):
            layout = self.plain_layout(output)
        if layout is None:
            return values[0]
        for value in values:
            if value.descriptor.same_places(layout):
                return Value(value.buffer, layout, value.offset)
        values.append(self.reordered(values[0], layout, reader or output.node))
        return values[-1]

    def stored_value(self, output: Output, reader: Node) -> Value:
        """Return the value of an output, of a constant too, in the type in which it is computed."""
        value = self.value(output, reader=reader)
        if value.descriptor.data_type is self.data_type(output):
            return value
        return self.value(output, self.plain_layout(output), reader)

    def dense(self, output: Output, reader: Node) -> Value:
        """Return the value of an output in the layout that it has, or row-major if that has gaps."""
        value = self.value(output, reader=reader)
        return value if value.descriptor.is_dense else self.plain(output, reader)

    def plain(self, output: Output, reader: Node) -> Value:
        """Return the value of an output in row-major layout."""
        return self.value(output, self.plain_layout(output), reader)

    def constant(
        self, array: np.ndarray, descriptor: Descriptor | None = None, layout: Descriptor | None = None
    ) -> Value:
        """Return a constant in the layout ``wanted``; ``descriptor`` says how to read it, by default row-major f32."""
        descriptor = descriptor or plain(array.shape, DataType.f32)
        return self.constants.value(array, descriptor, layout or descriptor)

    def as_seen(self, output: Output, descriptor: Descriptor, layout: Descriptor, reader: Node) -> Value:
        """Return a row-major value, read through another descriptor, in a layout."""
        if isinstance(output.node, Constant):
            return self.constants.value(output.node.data, descriptor, layout)
        source = self.plain(output, reader)
        value = Value(source.buffer, descriptor, source.offset)
        return value if descriptor == layout else self.reordered(value, layout, reader)

    def as_single(self, output: Output, layout: Descriptor, reader: Node) -> Value:
        """Return the only element of a value of any rank as a layout, of a vector of one, has it."""
        value = self.value(output, reader=reader)
        single = Value(value.buffer, plain(layout.dims, value.descriptor.data_type), value.offset)
        return self.reordered(single, layout, reader)

    def reordered(self, value: Value, layout: Descriptor, reader: Node) -> Value:
        """Return a copy of a value in another layout, for a node that reads it."""
        descriptor = describe_reorder(value.descriptor, layout)
        return self.execute(reader, descriptor, {Argument.src: value}, layout, "reorder")

    def run(self, node: Node, descriptor: PrimitiveDescriptor, arguments: Mapping[int, Value], role: str = "") -> None:
        """Append the execution of a primitive."""
        self.steps.append(PrimitiveStep(node, descriptor, dict(arguments), role))

    def execute(
        self,
        node: Node,
        descriptor: PrimitiveDescriptor,
        arguments: Mapping[int, Value],
        layout: Descriptor | None = None,
        role: str = "",
    ) -> Value:
        """Append the execution of a primitive, and return its result, by default in the layout of its descriptor."""
        result = self.new_value(layout or descriptor.dst)
        self.run(node, descriptor, {**arguments, Argument.dst: result}, role)
        return result

    def check(self, value: Value) -> None:
        """Let inferences check a value after the step that writes it; inputs have been checked."""
        for index, step in reversed([*enumerate(self.steps)]):
            if step.result.buffer is value.buffer:
                self.steps[index] = replace(step, is_checked=True)
                return

    def emit(
        self,
        operation: PrimitiveOperation,
        post_ops: Sequence[PostOp],
        describe: Callable[[Attributes], PrimitiveDescriptor],
        arguments: Callable[[PrimitiveDescriptor], Mapping[int, Value]],
    ) -> Value:
        """Append a primitive with post-ops, and return its result.

        ``describe`` returns its descriptor, and ``arguments`` the arguments besides the result.
        """
        descriptor = self.described(operation, post_ops, describe)
        operands = [self._operand(op, operation) for op in post_ops]
        values = dict(arguments(descriptor))
        for index, (op, operand) in enumerate(zip(post_ops, operands)):
            if operand is not None:
                argument = operand_argument(index, op)
                output, layout = operand
                if isinstance(op, BinaryOp):
                    layout = descriptor.descriptor(Query.argument, argument)
                values[argument] = self.padded(output, layout, operation.node)
        return self.execute(operation.node, descriptor, values)

    def described(
        self,
        operation: PrimitiveOperation,
        post_ops: Sequence[PostOp],
        describe: Callable[[Attributes], PrimitiveDescriptor],
    ) -> PrimitiveDescriptor:
        """Return the descriptor of a primitive with post-ops."""
        operands = [self._operand(op, operation) for op in post_ops]
        return describe(Attributes([(op, bound and bound[1]) for op, bound in zip(post_ops, operands)]))

    def _operand(self, op: PostOp, operation: PrimitiveOperation) -> tuple[Output, Descriptor] | None:
        """Return the operand of a post-op, and the descriptor to ask for; None if it has none."""
        if isinstance(op, EltwiseOp):
            return None
        shape = extended(operation.result.shape)
        output = operation.outside(op.operand if isinstance(op, BinaryOp) else op.slope)
        kind = self.stored_type(output)
        if tuple(output.shape) == tuple(shape):
            return output, any_layout(shape, kind)
        return output, plain(padded_shape(output.shape, len(shape)), kind)

    def padded(self, output: Output, layout: Descriptor, reader: Node) -> Value:
        """Return a value in a layout of a shape with further leading dimensions of 1."""
        if tuple(layout.dims) == extended(output.shape):
            return self.value(output, layout, reader)
        return self.as_seen(output, plain(layout.dims, layout.data_type), layout, reader)


def unsupported(operation: PrimitiveOperation, reason: str) -> UnsupportedOperationError:
    """Return the error for an operation whose shapes or constants oneDNN does not take."""
    main = operation.main
    shapes = ", ".join(f"{value.element_type}{list(value.shape)}" for value in main.input_values())
    return UnsupportedOperationError(
        f"ONEDNN cannot run {main.type_info.name} '{main.friendly_name}' of {shapes}: {reason}"
    )


def padded_shape(shape: Sequence[int], rank: int) -> tuple[int, ...]:
    """Return a shape with leading dimensions of 1, as broadcasting adds them."""
    return (1,) * (rank - len(shape)) + tuple(shape)


def _data_type(element_type: object) -> DataType:
    kind = DATA_TYPES.get(element_type)  # type: ignore[call-overload]  # types that are no Type are not supported
    if kind is None:
        raise UnsupportedOperationError(f"ONEDNN computes no values of {element_type}")
    return kind
