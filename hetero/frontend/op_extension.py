"""OpExtension, the translation of a framework's operator to one operation, and its class decorator framework_map."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from hetero.frontend.extension import ConversionExtension
from hetero.frontend.translation.node_context import NodeContext
from hetero.frontend.translation.translators import ConversionResult
from hetero.graph import Attribute, Node, Op, Output
from hetero.graph.attributes import REQUIRED, AttributeCollector, AttributeSetter
from hetero.system.errors import FrontendError, GraphError

Operation = TypeVar("Operation", bound=type[Op])
# The attribute of an operation class that holds the extensions of its framework_map decorators.
_MAPS = "_framework_maps"


class OpExtension(ConversionExtension):
    """A mapping from a framework's operator to one operation: ``OpExtension("Relu", "MyRelu")``, ``OpExtension(MyOp)``.

    The arguments are those of OpenVINO. Each may be omitted or passed as a keyword::

        OpExtension(ov_type_name, fw_type_name, in_names_vec, out_names_vec, attr_names_map, attr_values_map)

    ``ov_type_name``: the operation's class, its name in the newest operation set that has it, or its name in a given
    operation set, for example "opset1.MatMul". ``fw_type_name``: the operator's type, by default the operation's name.
    ``in_names_vec``: the names of the operator's inputs in the order of the operation's inputs; by default all inputs
    in their own order. ``out_names_vec``: the names of the operator's outputs in the order of the operation's outputs.

    Attributes are named as the factory's parameters or as in IR files, if the two differ (``min_value`` and ``min`` of
    Clamp). The value of an attribute comes from ``attr_values_map``, else from the operator's attribute that
    ``attr_names_map`` names (by default the one of the same name), else it is the default that the operation declares.
    A number in ``attr_names_map`` is the index of a constant input that holds the value; the operation's inputs are
    then only those before the first such input. Values are taken as they are: one that the operation could only round
    or convert is an error, and so is a missing one without a default.

    ``domain``, ``framework``: as in ConversionExtension. Raises GraphError if there is no such operation, if a map
    names an attribute that the operation does not have, if both maps have an attribute of a class, and for any other
    invalid argument.
    """

    def __init__(self, *arguments: Any, domain: str | None = None, framework: str = "", **keywords: Any) -> None:
        mapping = OperationMapping.of(arguments, keywords)
        operation, self._mapping = mapping.operation, mapping
        self.operation = _find_operation(operation) if isinstance(operation, str) else operation
        if not self.operation.is_declared():
            self.operation.unconnected()  # type_info exists after the first construction
        super().__init__(mapping.fw_type_name or self.operation.type_info.name, self._make, domain, framework)
        self._known_names = self._attribute_names()
        self._check_attributes(self._known_names)
        self._has_arguments = bool(len(arguments) + len(keywords) > 1 or domain or framework)
        indices = [source for source in mapping.attr_names_map.values() if isinstance(source, int)]
        self._end_of_inputs = min(indices, default=None)

    def attached(self) -> list[OpExtension]:
        """Return the extensions of the class's framework_map decorators; itself if it has none, or more arguments."""
        return [self] if self._has_arguments else framework_maps(self.operation) or [self]

    def is_for(self, framework: str) -> bool:
        # An IR file contains the operation itself, whichever framework the model came from.
        return framework == "ir" or super().is_for(framework)

    def _attribute_names(self) -> set[str] | None:
        """Return the attribute names; None if only a complete instance knows them."""
        if not self.operation.is_declared():
            collector = AttributeCollector()
            self.operation.unconnected().visit_attributes(collector)
            return {*collector.values} or None  # without attributes of its own, a class takes any
        bases = self.operation.__mro__[: self.operation.__mro__.index(Op)]
        if any("visit_attributes" in vars(base) for base in bases):
            return None
        declared = self.operation.attributes_declared
        return {name for attribute in declared for name in (attribute.name, attribute.ir_name)}

    def _check_attributes(self, known: set[str] | None) -> None:
        """Raise GraphError if a map names an unknown attribute, or one attribute is both an input and a value."""
        names, values = self._mapping.attr_names_map, self._mapping.attr_values_map
        kind = self.operation.type_info.name
        for name in [*names, *values]:
            if known is not None and name not in known:
                has = ", ".join(sorted(known)) or "none"
                raise GraphError(f"{self!r}: {kind} has no attribute {name}; it has {has}")
            if not isinstance(names.get(name, ""), (str, int)):
                raise GraphError(
                    f"{self!r}: attribute {name} is taken from {names[name]!r}, not from a name or an index"
                )
            # For the name of an operation, OpenVINO lets the value take precedence over the node's attribute.
            if name in names and name in values and not isinstance(self._mapping.operation, str):
                raise GraphError(f"{self!r}: attribute {name} is in both maps: give its name or its value")
            if isinstance(names.get(name), int) and name in values:
                raise GraphError(f"{self!r}: attribute {name} is both an input and a value: give one of them")

    def _make(self, node: NodeContext) -> ConversionResult:
        attributes = _Attributes(node, self._mapping, self.operation)
        operation = self.operation.of(self._inputs_of(node), _ExactSetter(attributes, self.operation))
        if self._known_names is None:
            self._check_attributes(attributes.requested)
        names = self._mapping.out_names_vec
        return self._named_outputs(operation, names, node) if names else operation

    def _inputs_of(self, node: NodeContext) -> list[Output]:
        if self._mapping.in_names_vec:
            return _inputs_by_names(node, self._mapping.in_names_vec)
        count = node.get_input_size()
        if self._end_of_inputs is not None:
            count = min(count, self._end_of_inputs)
        while count and not node.has_input(count - 1):
            count -= 1
        return [node.get_input(index) for index in range(count)]

    def _named_outputs(self, operation: Node, names: Sequence[str], node: NodeContext) -> dict[str, list[Output]]:
        """Return the operation's outputs by the operator's output names, without outputs that the operator omits."""
        if len(names) != operation.get_output_size():
            raise FrontendError(
                f"{operation.get_type_name()} has {operation.get_output_size()} outputs, but out_names_vec {len(names)}"
            )
        present = node.get_output_names()
        by_name: dict[str, list[Output]] = {}
        for name, output in zip(names, operation.outputs()):
            if name in present or not present:
                by_name.setdefault(name, []).append(output)
        return by_name


def framework_map(framework: str, *arguments: Any, **keywords: Any) -> Callable[[Operation], Operation]:
    """Return a decorator that maps an operator of a format to the operation, like OPENVINO_FRAMEWORK_MAP in C++::

        @framework_map("onnx", "CustomOp", {"mode": "fw_mode"}, {"axis": -1})
        @framework_map("paddle", ["X"], ["Out"], "CustomOp")
        @framework_map("pytorch", "my::custom_op", {"mode": 1}, {"axis": -1})
        class CustomOp(Op): ...

    The arguments are the operator's type, by default that of the class, and the arguments of OpExtension.
    ``Core.add_extension`` adds one OpExtension for each decorator of a class. Raises GraphError like OpExtension.
    """

    def add(operation: Operation) -> Operation:
        extension = OpExtension(operation, *arguments, framework=framework, **keywords)
        # Decorators are called from the last to the first.
        setattr(operation, _MAPS, [extension, *framework_maps(operation)])
        return operation

    return add


def framework_maps(operation: type[Op]) -> list[OpExtension]:
    """Return the extensions of a class's own decorators, without those of its base classes."""
    return vars(operation).get(_MAPS, [])


# The parameters that positional arguments of each type are for, in order.
_KINDS: dict[tuple[type, ...], tuple[str, ...]] = {
    (str, type): ("ov_type_name", "fw_type_name"),
    (list, tuple): ("in_names_vec", "out_names_vec"),
    (Mapping, type(None)): ("attr_names_map", "attr_values_map"),
}
_ANY_KIND = tuple(kind for kinds in _KINDS for kind in kinds)


class OperationMapping(NamedTuple):
    """The arguments of an OpExtension under their names."""

    operation: str | type[Op]
    fw_type_name: str | None
    in_names_vec: Sequence[str]
    out_names_vec: Sequence[str]
    attr_names_map: Mapping[str, str | int]
    attr_values_map: Mapping[str, Any]

    @classmethod
    def of(cls, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> OperationMapping:
        """Assign positional arguments to parameters by their type: name, list of names, or map. Raises GraphError."""
        named, invalid = dict(keywords), [value for value in arguments if not isinstance(value, _ANY_KIND)]
        for kind, keys in _KINDS.items():
            values = [value for value in arguments if isinstance(value, kind)]
            if len(values) == 1 and "ov_type_name" in named and "ov_type_name" in keys:
                keys = keys[1:]
            invalid += values[len(keys) :]
            invalid += [key for key, _ in zip(keys, values) if key in named]
            named.update(zip(keys, values))
        known = [key for keys in _KINDS.values() for key in keys]
        invalid += [key for key in named if key not in known]
        if invalid:
            raise GraphError(
                f"OpExtension cannot take {', '.join(map(str, invalid))}: it takes, in this order, {', '.join(known)}"
            )
        operation = named.get("ov_type_name") or named.get("fw_type_name")
        if not (isinstance(operation, str) or (isinstance(operation, type) and issubclass(operation, Op))):
            raise GraphError(f"OpExtension of {operation!r}: give the name of an operation, or its class")
        return cls(
            operation,
            named.get("fw_type_name"),
            list(named.get("in_names_vec") or ()),
            list(named.get("out_names_vec") or ()),
            dict(named.get("attr_names_map") or {}),
            dict(named.get("attr_values_map") or {}),
        )


class _Attributes(Mapping[str, Any]):
    """The values of an operation's attributes, as far as a node or the maps of an extension define them.

    ``requested``: the names that were looked up.
    """

    def __init__(self, node: NodeContext, mapping: OperationMapping, operation: type[Op]) -> None:
        self._node, self._mapping = node, mapping
        self._ir_names = {attribute.name: attribute.ir_name for attribute in operation.attributes_declared}
        self.requested: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        self.requested.add(name)
        names = dict.fromkeys([name, self._ir_names.get(name, name)])
        values, sources = self._mapping.attr_values_map, self._mapping.attr_names_map
        for known in names:
            if known in values:
                return values[known]
        for source in [sources[known] for known in names if known in sources] or names:
            if isinstance(source, int):
                if self._node.has_input(source):
                    return self._node.get_values_from_const_input(source)
            elif self._node.has_attribute(source):
                return self._node.get_attribute(source)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys([*self._mapping.attr_names_map, *self._mapping.attr_values_map])
        return (name for name in names if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _ExactSetter(AttributeSetter):
    """Sets the attributes of an operation to values as they are. Raises GraphError for one that must be converted.

    Also raises GraphError if there is no value for an attribute that the class shows to visitors without a default.
    """

    def __init__(self, values: Mapping[str, Any], operation: type[Op]) -> None:
        super().__init__(values, operation.type_info.name)
        self._declared = {attribute.name for attribute in operation.attributes_declared}

    def visit(self, attribute: Attribute, value: Any) -> Any:
        name = attribute.name
        given = self._values.get(name, REQUIRED)
        if given is not REQUIRED:
            converted = attribute.converted(given, self._operation)
            if not _is_same(given, converted):
                problem = f"attribute {name} cannot be {given!r}, it takes {attribute.accepts}"
                raise GraphError(f"{self._operation}: {problem}")
            return converted
        if name not in self._declared:
            raise GraphError(f"{self._operation}: attribute {name} is missing: map it to an attribute, or give a value")
        return value


_INTEGERS = (int, np.integer)


def _is_same(given: Any, converted: Any) -> bool:
    """Return whether a conversion kept a number, a string or a sequence of them.

    An integer is accepted as a float, and 0 and 1 as booleans, as ONNX has none.
    """
    if isinstance(converted, tuple):
        items = given.tolist() if isinstance(given, np.ndarray) else given
        return isinstance(items, (list, tuple)) and all(map(_is_same, items, converted))
    if isinstance(converted, bool):
        return isinstance(given, (bool, np.bool_)) or (isinstance(given, _INTEGERS) and given in (0, 1))
    for kind, accepted in ((int, _INTEGERS), (float, (*_INTEGERS, float, np.floating)), (str, str)):
        if isinstance(converted, kind):
            return isinstance(given, accepted) and not isinstance(given, bool)
    return True


def _inputs_by_names(node: NodeContext, names: Sequence[str]) -> list[Output]:
    inputs, omitted = [], None
    for name in names:
        if not node.has_input(name):
            omitted = name
        elif omitted is not None:
            raise FrontendError(f"input '{omitted}' is missing, but '{name}' after it is not")
        else:
            inputs += [node.get_input(name, index) for index in range(node.get_input_size(name))]
    return inputs


def _find_operation(name: str) -> type[Op]:
    from hetero.ops.opsets import OPSETS, classes_in

    match = re.fullmatch(r"(?:opset(\d+)(?:\.|::))?(\w+)", name)
    opset, kind = (int(match[1] or OPSETS[-1]), match[2]) if match else (0, "")
    classes = classes_in(opset) if opset in OPSETS else {}
    if kind not in classes:
        raise GraphError(f"there is no operation {name}: write one as Relu or opset1.Relu, or give its class")
    return classes[kind]
