"""Decoding of ProgramDesc, the protobuf message in ``.pdmodel`` files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hetero.core.shape import PartialShape
from hetero.core.types import Type
from hetero.frontend.paddle.conditionals import join_branches
from hetero.frontend.paddle.decoded import TENSOR_ARRAY, PaddleBlock, PaddleNode, PaddleProgram, PaddleVariable
from hetero.frontend.paddle.element_types import type_of
from hetero.frontend.paddle.parameters import TENSOR
from hetero.frontend.protobuf import Message, Schema, WireError, decode
from hetero.frontend.translation.model_context import MAX_NESTING
from hetero.system.errors import FrontendError

_SCALAR = Schema("Scalar", type=(1, "int"), b=(2, "bool"), i=(3, "int"), r=(4, "double"))
_ATTRIBUTE = Schema(
    "Attr", name=(1, "string"), type=(2, "int"), i=(3, "int"), f=(4, "float"), s=(5, "bytes"), ints=(6, ["int"]),
    floats=(7, ["float"]), strings=(8, ["bytes"]), b=(10, "bool"), bools=(11, ["bool"]), block_idx=(12, "int"),
    l=(13, "int"), blocks_idx=(14, ["int"]), longs=(15, ["int"]), float64s=(16, ["double"]), var_name=(17, "string"),
    vars_name=(18, ["string"]), float64=(19, "double"), scalar=(20, _SCALAR), scalars=(21, [_SCALAR]),
)  # fmt: skip
# The field with the value of each type of attributes, by number.
_FIELDS = (
    "i", "f", "s", "ints", "floats", "strings", "b", "bools", "block_idx", "l", "blocks_idx", "longs", "float64s",
    "var_name", "vars_name", "float64", "scalar", "scalars",
)  # fmt: skip
_PORT = Schema("Var", parameter=(1, "string"), arguments=(2, ["string"]))
_OPERATOR = Schema(
    "OpDesc", inputs=(1, [_PORT]), outputs=(2, [_PORT]), type=(3, "string"), attrs=(4, [_ATTRIBUTE])
)  # fmt: skip
_DENSE = Schema("DenseTensorDesc", tensor=(1, TENSOR))
_TYPE = Schema("VarType", type=(1, "int"), dense_tensor=(3, _DENSE), tensor_array=(4, _DENSE))
_VARIABLE = Schema("VarDesc", name=(1, "string"), type=(2, _TYPE), persistable=(3, "bool"))
_BLOCK = Schema(
    "BlockDesc", idx=(1, "int"), parent_idx=(2, "int"), vars=(3, [_VARIABLE]), ops=(4, [_OPERATOR])
)  # fmt: skip
_PROGRAM = Schema("ProgramDesc", blocks=(1, [_BLOCK]))
# The kinds of variables by number.
_DENSE_TENSOR, _TENSOR_ARRAY = 7, 13
_KINDS = {8: "selected rows", 9: "feeds", 10: "fetches", 11: "step scopes", 13: TENSOR_ARRAY, 17: "raw data",
          25: "strings", 26: "strings", 30: "a sparse tensor", 31: "a sparse tensor"}  # fmt: skip


def is_program_desc(data: memoryview) -> bool:
    """Return whether bytes begin as a ProgramDesc does: with a block of index 0 without a parent."""
    head = bytes(data[:12])
    size = next((index for index, byte in enumerate(head[1:], 2) if byte < 0x80), 0)
    return head[:1] == b"\x0a" and head[size : size + 3] == b"\x08\x00\x10" and size > 0


def decode_program_desc(data: memoryview) -> PaddleProgram:
    """Return the program, without parameters. Raises FrontendError if it is damaged."""
    try:
        blocks = decode(data, _PROGRAM).blocks
    except WireError as error:
        raise FrontendError(f"it is no ProgramDesc: {error}") from error
    if not blocks:
        raise FrontendError("it has no block")
    return _ProgramDescDecoder(blocks).program()


class _ProgramDescDecoder:
    """Decoder of one program. Each block belongs to at most one operator, so a file cannot expand."""

    def __init__(self, blocks: Sequence[Message]) -> None:
        self._blocks = blocks
        self._entered: set[int] = set()

    def program(self) -> PaddleProgram:
        block = self._block(0, ())
        feeds, fetches, operators = [], [], []
        for operator in block.nodes:
            if operator.op_type == "feed":
                feeds.append((operator.attributes.get("col", 0), next(operator.output_keys())))
            elif operator.op_type == "fetch":
                fetches.append((operator.attributes.get("col", 0), next(operator.input_keys())))
            else:
                operators.append(operator)
        block.nodes = operators
        inputs, outputs = ([(name, name) for _, name in sorted(places)] for places in (feeds, fetches))
        return PaddleProgram(block, feeds=inputs, fetches=outputs)

    def _block(self, index: int, parents: tuple[int, ...]) -> PaddleBlock:
        if not 0 <= index < len(self._blocks) or index in parents or len(parents) > MAX_NESTING:
            raise FrontendError(f"an operator of block {parents[-1] if parents else 0} has no block {index}")
        if index in self._entered:
            raise FrontendError(f"block {index} belongs to several operators")
        self._entered.add(index)
        message, around = self._blocks[index], (*parents, index)
        variables = {variable.name: _variable(variable) for variable in message.vars}
        operators = [self._operator(operator, around) for operator in message.ops]
        return PaddleBlock(nodes=join_branches(operators), variables=variables)

    def _operator(self, message: Message, around: tuple[int, ...]) -> PaddleNode:
        inputs, outputs = (
            {port.parameter: [_present(name) for name in port.arguments] for port in ports if port.arguments}
            for ports in (message.inputs, message.outputs)
        )
        attributes = {attribute.name: _value(attribute) for attribute in message.attrs}
        operator = PaddleNode("", message.type, inputs, outputs, attributes)
        if message.type == "write_to_array":
            # It changes the array.
            inputs["Array"] = outputs.get("Out", [])
        if message.type in ("while", "conditional_block"):
            operator.bodies = [self._block(attributes.get("sub_block", -1), around)]
            _connect_block(operator)
        return operator


def _connect_block(operator: PaddleNode) -> None:
    """Set what the block of an operator reads and sets in the blocks around it.

    A block sets variables of the blocks around it in place.
    """
    (block,) = operator.bodies
    names = dict.fromkeys(name for inner in block.nodes for name in inner.output_keys())
    changed = [name for name in names if name not in block.variables]
    operator.outputs = {"Out": changed}
    block.outputs = changed
    if operator.op_type == "while":
        (condition,) = operator.inputs.get("Condition", [""]) or [""]
        carried = [name for name in changed if name != condition]
        operator.inputs = {"Condition": [condition], "X": carried}
        operator.outputs = {"Out": carried}
        block.inputs, block.outputs = carried, [condition, *carried]


def _variable(message: Message) -> PaddleVariable:
    kind = message.type.type
    if kind not in (_DENSE_TENSOR, _TENSOR_ARRAY):
        return PaddleVariable(kind=_KINDS.get(kind, f"type {kind}"))
    tensor = (message.type.dense_tensor if kind == _DENSE_TENSOR else message.type.tensor_array).tensor
    try:
        element_type = type_of(tensor.data_type)
    except FrontendError:
        element_type = Type.dynamic
    shape = PartialShape([length if length >= 0 else -1 for length in tensor.dims])
    return PaddleVariable(element_type, shape, message.persistable, _KINDS.get(kind, ""))


def _present(name: str) -> str:
    return "" if name == "@EMPTY@" else name


def _value(attribute: Message) -> Any:
    """Return the value of an attribute. Raises FrontendError for an unknown type."""
    if not 0 <= attribute.type < len(_FIELDS):
        raise FrontendError(f"attribute {attribute.name} has the unknown type {attribute.type}")
    value = getattr(attribute, _FIELDS[attribute.type])
    match value:
        case memoryview():
            return _text(value)
        case Message():
            return _number(value)
        case [memoryview(), *_]:
            return [_text(text) for text in value]
        case [Message(), *_]:
            return [_number(scalar) for scalar in value]
    return value


def _text(value: memoryview) -> str:
    return str(value, "utf-8", "replace")


def _number(scalar: Message) -> bool | int | float:
    return {1: scalar.b, 2: scalar.i, 3: scalar.r}.get(scalar.type, scalar.r)
