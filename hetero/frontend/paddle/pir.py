"""Decoding of the JSON programs of Paddle 3, ``inference.json``."""

from __future__ import annotations

import json
import re
from collections import ChainMap
from collections.abc import Mapping, MutableMapping
from typing import Any

from hetero.core.shape import PartialShape
from hetero.frontend.paddle.decoded import TENSOR_ARRAY, PaddleBlock, PaddleNode, PaddleProgram, PaddleVariable
from hetero.frontend.paddle.element_types import value_type
from hetero.frontend.paddle.pir_operators import form_of
from hetero.frontend.translation.model_context import MAX_NESTING
from hetero.system.errors import FrontendError

_BEGIN = re.compile(rb'\s*\{\s*"base_code"\s*:\s*\{[^{}]*"magic"\s*:\s*"pir"')
# The end of names of parameters that are not in the file of parameters.
_TRANSIENT = "__non_persistable"
_Json = Mapping[str, Any]
# The names of the variables of a value: several for a list of tensors.
_Names = MutableMapping[int, list[str]]
# The exceptions that reading JSON of another structure raises.
_DAMAGE = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError)


def is_pir(data: memoryview) -> bool:
    """Return whether bytes begin as a JSON program does."""
    return _BEGIN.match(bytes(data[:1000])) is not None


def decode_pir(data: memoryview) -> PaddleProgram:
    """Return the program, without parameters. Raises FrontendError if it is damaged."""
    try:
        content = json.loads(bytes(data))
        (region,) = content["program"]["regions"]
        return _PirDecoder().program(region["blocks"])
    except RecursionError:
        raise FrontendError("its JSON is nested too deep") from None
    except _DAMAGE as error:
        raise FrontendError(f"it is no JSON program of PaddlePaddle: {type(error).__name__}: {error}") from error


class _PirDecoder:
    """Decoder of one program."""

    def __init__(self) -> None:
        self._feeds: list[tuple[int, str, str]] = []
        self._fetches: list[tuple[int, str, str]] = []
        self._args = 0

    def program(self, blocks: list[_Json]) -> PaddleProgram:
        (only,) = blocks
        block = self._block(only, ChainMap())
        feeds, fetches = (
            [(name, label) for _, name, label in sorted(targets)] for targets in (self._feeds, self._fetches)
        )
        return PaddleProgram(block, feeds=feeds, fetches=fetches)

    def _block(self, content: _Json, names: ChainMap[int, list[str]], depth: int = 0) -> PaddleBlock:
        if depth > MAX_NESTING:
            raise FrontendError(f"blocks are nested more than {MAX_NESTING} deep")
        block, names = PaddleBlock(), names.new_child()
        for arg in content.get("args", ()):
            block.inputs.append(f"argument_{self._args}")
            block.variables[block.inputs[-1]] = _variable(arg["TT"])
            names[arg["#"]] = [block.inputs[-1]]
            self._args += 1
        for operator in content["ops"]:
            self._add(operator, block, names, depth)
        return block

    def _add(self, content: _Json, block: PaddleBlock, names: ChainMap[int, list[str]], depth: int) -> None:
        """Add an operator to the block, or to the program what stands for inputs, outputs and lists of values."""
        kind = content["#"]
        if kind == "p":
            name = content["A"][3]
            block.variables[name] = _variable(content["O"]["TT"])
            # The first of its flags, which are left out of programs that cannot be trained.
            flags = content.get("OA") or [not name.endswith(_TRANSIENT)]
            block.variables[name].is_persistable = bool(flags[0])
            names[content["O"]["%"]] = [name]
            return
        inputs = [_values(operand["%"], names) for operand in content.get("I", ())]
        attributes = {attribute["N"]: _value(attribute["AT"]) for attribute in content.get("A", ())}
        dialect, _, op_type = kind.partition(".")
        results = content.get("O", ())
        match (dialect, op_type):
            case ("0", "combine"):
                names[results[0]["%"]] = [name for values in inputs for name in values]
            case ("0", "split"):
                for result, name in zip(results, inputs[0], strict=True):
                    names[result["%"]] = [name]
            case ("0", "slice"):
                names[results[0]["%"]] = [inputs[0][attributes["index"]]]
            case ("0", "shadow_output"):
                self._fetches.append((len(self._fetches), inputs[0][0], attributes["output_name"]))
            case ("2", "yield"):
                block.outputs = [name for values in inputs for name in values]
            case ("1", "data" | "feed"):
                name = attributes["name"]
                names[results[0]["%"]] = [name]
                block.variables[name] = _variable(results[0]["TT"])
                self._feeds.append((attributes.get("col", len(self._feeds)), name, name))
            case ("1", "fetch"):
                self._fetches.append((attributes.get("col", 0), inputs[0][0], attributes["name"]))
            case _:
                self._add_operator(op_type, inputs, content, block, names, depth)

    def _add_operator(
        self,
        op_type: str,
        inputs: list[list[str]],
        content: _Json,
        block: PaddleBlock,
        names: ChainMap[int, list[str]],
        depth: int,
    ) -> None:
        attributes = {attribute["N"]: _value(attribute["AT"]) for attribute in content.get("A", ())}
        path = attributes.pop("struct_name", "").strip("/")
        blocks = [
            self._block(block, names, depth + 1) for region in content.get("regions", ()) for block in region["blocks"]
        ]
        if op_type == "array_write_":
            # It changes the array, which both values stand for.
            outputs = [inputs[0]]
            names[content["O"][0]["%"]] = inputs[0]
        else:
            outputs = [_define(result, op_type, block, names) for result in content.get("O", ())]
        form = form_of(op_type)
        attributes = {form.attributes.get(name, name): value for name, value in attributes.items()}
        operator = PaddleNode("", form.op_type, {}, {}, attributes, blocks, path=path)
        if op_type == "while":
            operator.inputs = {"Condition": inputs[0], "X": [name for values in inputs[1:] for name in values]}
            operator.outputs = {"Out": [name for values in outputs for name in values]}
            for array in _arrays_written(blocks[0]):
                # The loop changes it without naming it.
                for names_of_all in (
                    operator.inputs["X"],
                    operator.outputs["Out"],
                    blocks[0].inputs,
                    blocks[0].outputs,
                ):
                    names_of_all.append(array)
        elif op_type == "if":
            operator.inputs = {"Cond": inputs[0]}
            operator.outputs = {"Out": [name for values in outputs for name in values]}
        else:
            operator.has_named_ports = form.inputs is not None or (len(inputs) <= 1 and len(outputs) == 1)
            operator.inputs = _ports(form.inputs or ["X"], inputs, operator.has_named_ports)
            operator.outputs = _ports(form.outputs or ["Out"], outputs, operator.has_named_ports)
        block.nodes.append(operator)


def _arrays_written(block: PaddleBlock) -> list[str]:
    """Return the arrays of the blocks around that a block changes."""
    written = (
        name for operator in block.nodes if operator.op_type in ("write_to_array", "while")
        for name in operator.output_keys() if name not in block.variables
    )  # fmt: skip
    return list(dict.fromkeys(written))


def _ports(names: Any, values: list[list[str]], has_names: bool) -> dict[str, list[str]]:
    """Return values by their ports, without omitted ones."""
    if not has_names:
        return {str(index): value for index, value in enumerate(values)}
    if len(values) > len(names):
        raise FrontendError(f"an operator has {len(values)} values for the ports {', '.join(names)}")
    return {name: value for name, value in zip(names, values) if value != [""]}


def _values(number: int, names: _Names) -> list[str]:
    """Return the variables of a value; 0 stands for an omitted one."""
    if number == 0:
        return [""]
    if number not in names:
        raise FrontendError(f"an operator reads value {number}, which no operator before it computes")
    return names[number]


def _define(result: _Json, op_type: str, block: PaddleBlock, names: _Names) -> list[str]:
    """Declare the variables of a result: one, or one for each tensor of a list."""
    number, content = result["%"], result.get("TT", {})
    if number == 0 or not content:
        return [""]
    is_list = content["#"].endswith("t_vec")
    kinds = content["D"] if is_list else [content]
    base = f"{op_type.removesuffix('_')}_{number}"
    names[number] = [f"{base}.{index}" for index in range(len(kinds))] if is_list else [base]
    block.variables.update(zip(names[number], map(_variable, kinds)))
    return names[number]


def _variable(content: _Json) -> PaddleVariable:
    kind = content["#"].partition(".")[2]
    if kind not in ("t_dtensor", "t_dense_tensor_array"):
        return PaddleVariable(kind=kind.removeprefix("t_"))
    element, shape = content["D"][0]["#"], content["D"][1]
    lengths = PartialShape([length if length >= 0 else -1 for length in shape])
    is_array = kind == "t_dense_tensor_array"
    return PaddleVariable(value_type(element.partition(".")[2]), lengths, kind=TENSOR_ARRAY if is_array else "")


def _value(content: _Json) -> Any:
    """Return the value of an attribute; None for one of a kind that is not read."""
    value = content.get("D")
    match content["#"].partition(".")[2]:
        case "a_array":
            return [_value(item) for item in value or ()]
        case "a_f32" | "a_f64" if value is None or isinstance(value, str):
            return float(value if value is not None else content["VD"])
        case "a_place":
            return None
    return value
