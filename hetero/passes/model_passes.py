"""The passes of ``openvino.passes`` that programs run themselves, as classes of ModelPass."""

from __future__ import annotations

import enum
import os
from collections.abc import Mapping, Sequence

import numpy as np

from hetero import ops
from hetero.core.types import Type
from hetero.graph import Constant, Model, Node, Op, Output, Parameter, Result
from hetero.graph.upper_layers import need
from hetero.graph.variable import Variable, VariableInfo
from hetero.ops.control_flow.bodies import MergedInputDescription
from hetero.passes.constant_folding import fold_constants
from hetero.passes.matching.graph_rewrite import ModelPass
from hetero.system.errors import GraphError


class ConstantFolding(ModelPass):
    """Replace values that do not depend on inputs by constants."""

    def run_on_model(self, model: Model) -> bool:
        return fold_constants(model)


class ConvertFP32ToFP16(ModelPass):
    """Make f32 inputs, constants and attributes f16, so that the whole model computes in f16."""

    def run_on_model(self, model: Model) -> bool:
        nodes = model.get_ordered_ops()
        changed = [_convert_to_fp16(node) for node in nodes]
        for node in nodes:
            for body in node.bodies:
                if body is not None:
                    changed.append(self.run_on_model(body))
        if any(changed):
            model.validate_nodes_and_infer_types()
        return any(changed)


def _convert_to_fp16(node: Node) -> bool:
    if isinstance(node, Constant):
        if node.get_element_type() is not Type.f32:
            return False
        half = Constant(node.data.astype(np.float16), name=node.friendly_name)
        node.output(0).replace(half.output(0))
        return True
    if isinstance(node, Parameter):
        if node.element_type is not Type.f32:
            return False
        node.element_type = Type.f16
        return True
    attributes = [key for key, value in node.attribute_values().items() if value is Type.f32]
    for key in attributes if isinstance(node, Op) else ():
        setattr(node, key, Type.f16)
    return bool(attributes)


class MakeStateful(ModelPass):
    """Turn pairs of an input and an output into variables, which keep the output for the next inference.

    ``pairs_to_replace``: Parameters with Results, or a mapping of tensor names. A variable is called like both names
    together, and is zero at first. Raises GraphError for a name or a node that the model does not have.
    """

    def __init__(self, pairs_to_replace: Mapping[str, str] | Sequence[tuple[Parameter, Result]]) -> None:
        self._pairs = pairs_to_replace

    def run_on_model(self, model: Model) -> bool:
        pairs: list[tuple[str, Parameter, Result]] = []
        if isinstance(self._pairs, Mapping):
            for source, target in self._pairs.items():
                parameter, result = model.input(source).node, model.output(target).node
                assert isinstance(parameter, Parameter) and isinstance(result, Result)  # as ports of a model
                pairs.append((source + target, parameter, result))
        else:
            pairs = [(one.friendly_name + other.friendly_name, one, other) for one, other in self._pairs]
        for name, parameter, result in pairs:
            if parameter not in model.parameters or result not in model.results:
                problem = f"'{parameter.friendly_name}' and '{result.friendly_name}'"
                raise GraphError(f"model '{model.friendly_name}' does not have the input and the output {problem}")
            variable = _variable(name, parameter.output(0))
            value = ops.ReadValue(variable)
            parameter.output(0).replace(value.output(0))
            model.add_sinks([ops.Assign(result.input_value(0), variable)])
            model.remove_result(result)
            model.remove_parameter(parameter)
        return bool(pairs)


class LowLatency2(ModelPass):
    """Keep the values that a Loop or TensorIterator carries from one iteration to the next between inferences too.

    ``use_const_initializer``: the variables are zero at first; otherwise they have the loop's own initial values.
    """

    def __init__(self, use_const_initializer: bool = True) -> None:
        self._uses_zeros = use_const_initializer

    def run_on_model(self, model: Model) -> bool:
        changed = False
        for node in model.get_ordered_ops():
            if not isinstance(node, (ops.Loop, ops.TensorIterator)):
                continue
            for index, description in enumerate(node.get_input_descriptions()):
                if isinstance(description, MergedInputDescription):
                    self._add_variable(model, node, index, description)
                    changed = True
        return changed

    def _add_variable(
        self, model: Model, loop: ops.Loop | ops.TensorIterator, index: int, description: MergedInputDescription
    ) -> None:
        body = loop.get_function()
        read = loop.input(description.input_index)
        initial = read.get_source_output()
        name = f"{loop.friendly_name}/{body.parameters[description.body_parameter_index].friendly_name}"
        variable = _variable(f"{name}/variable_{index}", initial)
        value = ops.ReadValue(_zeros(initial) if self._uses_zeros else initial, variable)
        read.replace_source_output(value.output(0))
        last = loop.get_iter_value(body.results[description.body_value_index].output(0), -1)
        model.add_sinks([ops.Assign(last, variable)])


def _variable(name: str, value: Output) -> Variable:
    return Variable(VariableInfo(name, value.element_type, value.partial_shape))


def _zeros(value: Output) -> Node:
    """Return zeros in the shape of a value, which must be known. Raises GraphError."""
    if value.partial_shape.is_dynamic:
        raise GraphError(f"'{value.node.friendly_name}' cannot become a variable: its shape is {value.partial_shape}")
    return Constant(np.zeros(value.shape, value.element_type.to_dtype()))


class IRVersion(enum.Enum):
    """Versions of OpenVINO IR."""

    UNSPECIFIED = 0
    IR_V10 = 10
    IR_V11 = 11


class Serialize(ModelPass):
    """Write the model as OpenVINO IR, version 11: the graph to ``path_to_xml``, the weights to ``path_to_bin``."""

    def __init__(
        self,
        path_to_xml: str | os.PathLike[str],
        path_to_bin: str | os.PathLike[str],
        version: IRVersion | str | None = None,
    ) -> None:
        self._paths = path_to_xml, path_to_bin
        self._version = version.name if isinstance(version, IRVersion) else version or "UNSPECIFIED"

    def run_on_model(self, model: Model) -> bool:
        need("writers").serialize(model, *self._paths, self._version)
        return False
