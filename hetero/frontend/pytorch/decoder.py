"""Decoding of the JSON of exported programs, by the schema in torch/_export/serde/schema.py."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from hetero.core.dimension import Symbol
from hetero.core.shape import Dimension, PartialShape
from hetero.frontend.pytorch.archive import Archive, scalar_type
from hetero.frontend.pytorch.decoded import (
    Argument,
    TorchGraph,
    TorchNode,
    TorchProgram,
    TorchTensor,
    ValueRef,
)
from hetero.system.errors import FrontendError

_PROGRAM = "models/model.json"
_NEWEST_SCHEMA = 8
_OVERLOADED = re.compile(r"torch\.ops\.(\w+)\.(\w+)\.?(\w*)$")
_SYMBOL = re.compile(r"Symbol\('(\w+)'[^()]*\)$|(\w+)$")
# Arguments that are plain values.
_PLAIN = {
    "as_int", "as_ints", "as_floats", "as_bool", "as_bools", "as_string", "as_strings", "as_int_lists",
    "as_float_lists", "as_memory_format", "as_layout", "as_operator",
}  # fmt: skip
_NUMBERS = {"as_sym_int", "as_sym_float", "as_sym_bool"}
_LISTS_OF_NUMBERS = {"as_sym_ints", "as_sym_floats", "as_sym_bools"}
_Json = Mapping[str, Any]
# What reading JSON of another structure raises.
_DAMAGE = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, RecursionError)


def decode_archive(archive: Archive) -> TorchProgram:
    """Return the program of an archive. Raises FrontendError if it is damaged or of a newer schema."""
    try:
        arrays = {**archive.tensors("weights"), **archive.tensors("constants")}
        return decode(archive.read_json(_PROGRAM), arrays)
    except _DAMAGE as error:
        raise FrontendError(f"it is no exported program: {type(error).__name__}: {error}") from error


def decode(program: _Json, arrays: Mapping[str, np.ndarray]) -> TorchProgram:
    """Return a program from its JSON, and the arrays of its parameters, buffers and constants by name.

    Raises FrontendError if it is of a newer schema or has what is not supported.
    """
    version = program["schema_version"]["major"]
    if version > _NEWEST_SCHEMA:
        raise FrontendError(f"its schema has version {version}; the newest one that is supported is {_NEWEST_SCHEMA}")
    return _Decoder(program).program(arrays)


class _Decoder:
    """Decoder of one program. ``ranges``: the limits of dynamic lengths, by symbol."""

    def __init__(self, program: _Json) -> None:
        self._module, self._ranges = program["graph_module"], program["range_constraints"]
        # The names in the graph of parameters, buffers and constants, by their names in the module.
        self._by_name: dict[str, str] = {}

    def program(self, arrays: Mapping[str, np.ndarray]) -> TorchProgram:
        signature, decoded = self._module["signature"], TorchProgram(self._graph(self._module["graph"]))
        for spec in signature["input_specs"]:
            ((kind, content),) = spec.items()
            self._add_input(decoded, kind, content, arrays)
        for spec in signature["output_specs"]:
            ((kind, content),) = spec.items()
            self._add_output(decoded, kind, content)
        return decoded

    def _add_input(self, decoded: TorchProgram, kind: str, content: _Json, arrays: Mapping[str, np.ndarray]) -> None:
        if kind == "user_input":
            argument = self._argument(content["arg"])
            if isinstance(argument, ValueRef):
                decoded.user_inputs.append(argument.name)
            return
        if kind == "constant_input":
            return  # it is part of the graph
        if kind not in ("parameter", "buffer", "tensor_constant"):
            raise FrontendError(f"an input of the kind {kind} is not supported")
        name, value = content[f"{kind}_name"], content["arg"]["name"]
        if name not in arrays:
            raise FrontendError(f"it has no array of the {kind.replace('_', ' ')} '{name}'")
        decoded.constants[value], decoded.names[value], self._by_name[name] = arrays[name], name, value

    def _add_output(self, decoded: TorchProgram, kind: str, content: _Json) -> None:
        value = content["arg"]
        argument = ValueRef(value["name"]) if "name" in value else self._argument(value)
        if kind == "user_output":
            is_value = isinstance(argument, ValueRef)
            name = argument.name if is_value else f"output{len(decoded.user_outputs)}"
            decoded.user_outputs.append((argument, name))
        elif kind == "buffer_mutation":
            decoded.mutations.append((argument, self._by_name[content["buffer_name"]]))
        elif kind == "user_input_mutation":
            decoded.mutations.append((argument, content["user_input_name"]))
        else:
            raise FrontendError(f"an output of the kind {kind} is not supported")

    def _graph(self, graph: _Json) -> TorchGraph:
        inputs = [self._argument(argument) for argument in graph["inputs"]]
        return TorchGraph(
            "",
            [argument.name for argument in inputs if isinstance(argument, ValueRef)],
            [self._argument(argument) for argument in graph["outputs"]],
            [self._node(node) for node in graph["nodes"]],
            {name: self._tensor(meta) for name, meta in graph["tensor_values"].items()},
        )

    def _tensor(self, meta: _Json) -> TorchTensor:
        lengths = [self._dimension(length) for length in meta["sizes"]]
        strides = [stride.get("as_int") for stride in meta["strides"]]
        offset = meta["storage_offset"].get("as_int")
        return TorchTensor(scalar_type(meta["dtype"]), PartialShape(lengths), strides, offset)

    def _dimension(self, length: _Json) -> Dimension:
        if "as_int" in length:
            return Dimension(length["as_int"])
        # The expression is Python text that sympy would run; a symbol alone has a range.
        match = _SYMBOL.match(length["as_expr"]["expr_str"])
        name = match[1] or match[2] if match else ""
        limits = self._ranges.get(name, {})
        least, most = limits.get("min_val") or 0, limits.get("max_val")
        dimension = Dimension(least, most if most is not None and most < 1 << 62 else -1)
        return dimension.with_symbol(Symbol(name) if name else None)

    def _node(self, node: _Json) -> TorchNode:
        match = _OVERLOADED.match(node["target"])
        op_type, overload = (f"{match[1]}::{match[2]}", match[3]) if match else (node["target"], "")
        arguments = {
            read["name"] or str(index): self._argument(read["arg"]) for index, read in enumerate(node["inputs"])
        }
        outputs: list[str | None] = []
        for output in node["outputs"]:
            value = self._argument(output)
            for part in value if isinstance(value, list) else [value]:
                outputs.append(part.name if isinstance(part, ValueRef) else None)
        name = node.get("name") or next(filter(None, outputs), op_type)
        return TorchNode(name, op_type, arguments, outputs, path=_module_of(node["metadata"]), overload=overload)

    def _argument(self, argument: _Json) -> Argument:
        """Return the value of an argument, which is an object with one member that says its kind."""
        ((kind, value),) = argument.items()
        if kind in _PLAIN:
            return value
        if kind in _NUMBERS:
            return _number(value)
        if kind in _LISTS_OF_NUMBERS:
            return [_number(part) for part in value]
        match kind:
            case "as_none":
                return None
            case "as_float":
                return float(value)  # infinities and NaN are strings
            case "as_tensor":
                return ValueRef(value["name"])
            case "as_tensors":
                return [ValueRef(part["name"]) for part in value]
            case "as_optional_tensor":
                return self._argument(value)
            case "as_optional_tensors":
                return [self._argument(part) for part in value]
            case "as_scalar_type":
                return scalar_type(value)
            case "as_complex":
                return complex(value["real"], value["imag"])
            case "as_graph":
                return self._graph(value["graph"])
            case "as_device":
                return value["type"]
        raise FrontendError(f"an argument of the kind {kind} is not supported")


def _number(value: _Json) -> ValueRef | int | float | bool:
    ((kind, content),) = value.items()
    return ValueRef(content) if kind == "as_name" else content


def _module_of(metadata: Mapping[str, str]) -> str:
    """Return the path of the innermost module that calls an operator.

    The text has a part for each module, outermost first: ``key,path,type;…``.
    """
    last = metadata.get("nn_module_stack", "").split(";")[-1].split(",")
    path = last[1] if len(last) == 3 else ""
    return path.removeprefix("L['self'].").removeprefix("L['self']")
