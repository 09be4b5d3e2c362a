"""Model: a graph from Parameters to Results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, Self, cast

from hetero.core.ov_any import RTMap
from hetero.core.shape import PartialShape, PartialShapeLike
from hetero.core.static_shape import Shape
from hetero.core.types import Type
from hetero.graph.layouts import reshape
from hetero.graph.node import Named, Node, as_output
from hetero.graph.order import topological_order, walk_nested
from hetero.graph.port import Output, PortKey, describe_ports, find_port, ports_table
from hetero.graph.rt_info import InfoPath, get_info, has_info, set_info
from hetero.graph.terminals import Parameter, Result, is_terminal
from hetero.graph.upper_layers import need
from hetero.graph.variable import Variable, VariableInfo
from hetero.system.errors import ArgumentTypeError, GraphError, PortIndexError
from hetero.system.messages import escaped
from hetero.system.notebook import paragraph, table

if TYPE_CHECKING:
    import networkx

    from hetero.core.tensor import Tensor

ValueKey = Output | Node | str | tuple[str, int]


class Model(Named):
    """A graph from Parameters to Results: ``Model(results, parameters, name)``.

    Results may be given as the nodes or outputs that they return, or as one node, all of whose outputs are meant.
    Sinks are nodes that run although no Result depends on them, such as Assign; variables are those that operations
    name: ``Model(results, sinks, parameters, variables, name)``. ``Model(model)`` is a copy.
    """

    rt_info: RTMap
    #: Whether all passes that changed the model are known to keep values (``hetero.passes.keeps_values``).
    keeps_values = True

    def __init__(
        self,
        results: Sequence[Node | Output] | Node | Output | Model | None = None,
        *more: Sequence[Node | Output] | Sequence[Variable] | str,
        parameters: Sequence[Parameter] | None = None,
        sinks: Sequence[Node | Output] = (),
        variables: Sequence[Variable] = (),
        name: str | None = None,
        result: Node | None = None,
        other: Model | None = None,
    ) -> None:
        results = next((given for given in (results, result, other) if given is not None), None)
        if isinstance(results, Model):
            original = results.clone()
            results, parameters, name = original.results, original.parameters, original.friendly_name
            sinks, variables, info = original.sinks, original._variables, original.rt_info
        else:
            info = RTMap()
        for value in more:
            if isinstance(value, str):
                name = value
            elif value and all(isinstance(item, Variable) for item in value):
                variables = cast(Sequence[Variable], value)
            elif parameters is None:
                parameters = cast(Sequence[Parameter], value)
            else:  # the list before it were the sinks
                sinks, parameters = parameters, cast(Sequence[Parameter], value)
        if parameters is None or not isinstance(results, (Node, Output, Sequence)):
            raise ArgumentTypeError("a model takes results and parameters: Model([result], [parameter], 'name')")
        if isinstance(results, (Node, Output)):
            results = results.outputs() if isinstance(results, Node) and results.get_output_size() > 1 else [results]
        self._results = [_as_result(r) for r in results]
        self._sinks: list[Node] = [sink.node if isinstance(sink, Output) else sink for sink in sinks]
        self._parameters = list(parameters)
        for node in self._parameters:
            if not isinstance(node, Parameter):
                raise ArgumentTypeError(f"the parameters of a model are Parameters, not {node!r}")
        self._variables: list[Variable] = list(variables)
        self._friendly_name = "Model" if name is None else name
        self.rt_info = info
        self._check()

    def get_rt_info(self, path: InfoPath | None = None) -> Any:
        """Return the rt_info of the model, or an OVAny of its entry at a path. Raise GraphError if there is none."""
        return self.rt_info if path is None else get_info(self.rt_info, path)

    def set_rt_info(self, obj: Any, path: InfoPath) -> None:
        """Set the rt_info entry at a path of keys, and create the dictionaries on the way."""
        set_info(self.rt_info, path, obj)

    def has_rt_info(self, path: InfoPath) -> bool:
        return has_info(self.rt_info, path)

    @property
    def parameters(self) -> list[Parameter]:
        return list(self._parameters)

    def get_parameters(self) -> list[Parameter]:
        return self.parameters

    @property
    def results(self) -> list[Result]:
        return list(self._results)

    def get_results(self) -> list[Result]:
        return self.results

    def add_parameters(self, parameters: Sequence[Parameter]) -> None:
        """Add Parameters as the last inputs."""
        self._parameters += parameters

    def remove_parameter(self, parameter: Parameter) -> None:
        """Remove a Parameter from the inputs. Raise GraphError if it is none of them."""
        self._parameters.pop(self._index_of(self._parameters, parameter))

    def replace_parameter(self, parameter_index: int, parameter: Parameter) -> None:
        """Replace an input by another Parameter, also for all nodes that read it. Raise GraphError if there is none."""
        if not 0 <= parameter_index < len(self._parameters):
            raise GraphError(f"model '{self.friendly_name}' has {len(self._parameters)} inputs, not {parameter_index}")
        for target in self._parameters[parameter_index].output(0).get_target_inputs():
            target.replace_source_output(parameter.output(0))
        self._parameters[parameter_index] = parameter

    def get_parameter_index(self, parameter: Parameter) -> int:
        """Return the index of a Parameter among the inputs, -1 if it is none of them."""
        return self._parameters.index(parameter) if parameter in self._parameters else -1

    def add_results(self, results: Sequence[Result]) -> None:
        """Add Results as the last outputs."""
        self._results += [_as_result(result) for result in results]

    def remove_result(self, result: Result) -> None:
        """Remove a Result from the outputs. Raise GraphError if it is none of them."""
        self._results.pop(self._index_of(self._results, result))

    def get_result(self) -> Result:
        """Return the only Result. Raise GraphError if there are several."""
        return cast(Result, self.output().node)

    @property
    def result(self) -> Result:
        return self.get_result()

    def get_result_index(self, value: Output | Result | None = None, *, result: Result | None = None) -> int:
        """Return the index of a Result, or of the Result of a value, among the outputs; -1 if there is none."""
        value = result if value is None else value
        if not isinstance(value, (Output, Result)):
            raise ArgumentTypeError(f"get_result_index takes a Result or a value, not {value!r}")
        for index, node in enumerate(self._results):
            if value is node or value in (node.output(0), node.input_value(0)):
                return index
        return -1

    def get_output_size(self) -> int:
        return len(self._results)

    def get_output_op(self, index: int) -> Result:
        return cast(Result, self.output(index).node)

    def get_output_element_type(self, index: int) -> Type:
        return self.get_output_op(index).get_output_element_type(0)

    def get_output_partial_shape(self, index: int) -> PartialShape:
        return self.get_output_op(index).get_output_partial_shape(0)

    def get_output_shape(self, index: int) -> Shape:
        return self.get_output_op(index).get_output_shape(0)

    def _index_of(self, nodes: Sequence[Node], node: Node) -> int:
        if not isinstance(node, Node):
            raise ArgumentTypeError(f"a model consists of nodes, not of {node!r}")
        if node not in nodes:
            raise GraphError(f"'{node.friendly_name}' is not in model '{self.friendly_name}'")
        return nodes.index(node)

    @property
    def sinks(self) -> list[Node]:
        """The nodes that run although no Result depends on them."""
        return list(self._sinks)

    def get_sinks(self) -> list[Node]:
        return self.sinks

    def get_sink_index(self, sink: Node | Output | None = None, *, value: Output | None = None) -> int:
        """Return the index of a sink, given as a node or its output; -1 if it is none of them."""
        sink = value if sink is None else sink
        if not isinstance(sink, (Node, Output)):
            raise ArgumentTypeError(f"get_sink_index takes a node or its output, not {sink!r}")
        node = sink.node if isinstance(sink, Output) else sink
        return self._sinks.index(node) if node in self._sinks else -1

    def remove_sink(self, sink: Node) -> None:
        """Remove a node from the sinks. Raise GraphError if it is none of them."""
        self._sinks.pop(self._index_of(self._sinks, sink))

    def add_sinks(self, sinks: Sequence[Node]) -> None:
        """Add nodes that run although no Result depends on them."""
        self._sinks = list(dict.fromkeys([*self._sinks, *sinks]))

    @property
    def variables(self) -> list[Variable]:
        """The variables that operations of the model, also those in bodies, read or set.

        The shape of one that is read has every length that all its ReadValues allow; an Assign may know more of it.
        """
        infos = {variable.info.variable_id: variable.info for variable in self._variables}
        given = set(infos)
        nodes = [node for node in walk_nested(self.get_ordered_ops()) if hasattr(node, "variable_info")]
        reads = [node.variable_info for node in nodes if node.get_type_name() == "ReadValue"]
        for info in reads:
            if info.variable_id not in given:
                infos[info.variable_id] = infos.get(info.variable_id, info).merge(info)
        for node in nodes:
            infos.setdefault(node.variable_info.variable_id, node.variable_info)
        return [Variable(info) for info in infos.values()]

    def get_variables(self) -> list[Variable]:
        return self.variables

    def add_variables(self, variables: Sequence[Variable]) -> None:
        """Add variables, which operations that are added later may name."""
        self._variables += variables

    def remove_variable(self, variable: Variable) -> None:
        """Remove a variable. Raise GraphError if an operation names it or the model does not have it."""
        if variable not in self._variables:
            name = variable.info.variable_id
            raise GraphError(f"variable '{name}' cannot be removed from model '{self.friendly_name}'")
        self._variables.remove(variable)

    def get_variable_by_id(self, variable_id: str) -> Variable | None:
        """Return the variable of this name, None if there is none."""
        return next((v for v in self.variables if v.info.variable_id == variable_id), None)

    @property
    def inputs(self) -> list[Output]:
        """The outputs of the Parameters."""
        return [parameter.output(0) for parameter in self._parameters]

    @property
    def outputs(self) -> list[Output]:
        """The outputs of the Results."""
        return [result.output(0) for result in self._results]

    def input(self, index: PortKey | None = None, *, tensor_name: str | None = None) -> Output:
        """Return an input by index, name or port, or the only one. Raise GraphError if there is no such input."""
        key = tensor_name if index is None else index
        return find_port(self.inputs, key, f"model '{self.friendly_name}' has no input", PortIndexError)

    def output(self, index: PortKey | None = None, *, tensor_name: str | None = None) -> Output:
        """Return an output by index, name or port, or the only one. Raise GraphError if there is no such output."""
        key = tensor_name if index is None else index
        if isinstance(key, str):
            for result in self._results:  # a name that its value got after the Result was made
                if key in result.input_value(0).names and key not in result.output(0).names:
                    return result.output(0)
        return find_port(self.outputs, key, f"model '{self.friendly_name}' has no output", PortIndexError)

    def get_ordered_ops(self) -> list[Node]:
        """Return all nodes in topological order, Parameters first."""
        return topological_order([*self._parameters, *self._results, *self._sinks])

    def get_ops(self) -> list[Node]:
        return self.get_ordered_ops()

    @property
    def dynamic(self) -> bool:
        return self.is_dynamic()

    def is_dynamic(self) -> bool:
        """Return whether the shape of any value is not fully known."""
        return any(output.partial_shape.is_dynamic for node in self.get_ordered_ops() for output in node.outputs())

    def validate_nodes_and_infer_types(self) -> None:
        """Infer the types and shapes of all values again. Raise GraphError if they do not fit."""
        for node in self.get_ordered_ops():
            node.infer()
        self._check()

    def reshape(
        self,
        partial_shapes: PartialShapeLike | Mapping[PortKey, PartialShapeLike] | None = None,
        variables_shapes: Mapping[str, PartialShapeLike] | None = None,
        *,
        partial_shape: PartialShapeLike | None = None,
    ) -> None:
        """Set the shapes of inputs, and infer all others: a shape for the only input, or a dict by index, name or port.

        Dimensions may be ranges, and have names: ``(1, 8)``, ``"1..8"``, ``"batch"``, ``"batch=1..8"``.
        ``variables_shapes`` has shapes of variables by name. Raises GraphError, or any exception of a user-defined
        operation, if the shapes do not fit. The model then keeps its shapes.
        """
        reshape(self, partial_shape if partial_shapes is None else partial_shapes, variables_shapes or {})

    def evaluate(
        self,
        output_tensors: Sequence[Tensor],
        input_tensors: Sequence[Tensor],
        evaluation_context: RTMap | None = None,
    ) -> bool:
        """Compute the outputs with numpy, into tensors that take on their shapes. Return True.

        Raises TensorError if tensors do not fit, UnsupportedOperationError if an operation cannot be computed.
        """
        return need("evaluation").evaluate_model(self, output_tensors, input_tensors)

    def clone(self) -> Model:
        """Return a copy of the model. Constants share their arrays; names and rt_info are copied."""
        return self.clone_with_nodes()[0]

    def __copy__(self) -> Model:
        raise ArgumentTypeError("a Model cannot be copied without its nodes; use copy.deepcopy or clone")

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self.clone()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Release the graph, as in OpenVINO: the model has no attributes any more."""
        vars(self).clear()
        self.__class__ = cast("type[Model]", ReleasedModel)

    def clone_with_nodes(self) -> tuple[Model, dict[Node, Node]]:
        """Return a copy of the model, and a dict from each node to its copy."""
        copies: dict[Node, Node] = {}
        for node in self.get_ordered_ops():
            copies[node] = node.copy_with_new_inputs([copies[v.node].output(v.index) for v in node.input_values()])
        model = Model(
            [copies[r] for r in self._results],
            [cast(Parameter, copies[p]) for p in self._parameters],
            self.friendly_name,
            sinks=[copies[s] for s in self._sinks],
            variables=self._variables,
        )
        model.rt_info.update(self.rt_info)
        return model, copies

    def add_outputs(self, outputs: Sequence[ValueKey] | ValueKey) -> list[Output]:
        """Add values to the outputs of the model, unless they are outputs, and return their outputs.

        Values are outputs, nodes, tensor names, or pairs of a node's friendly name and the index of its output.
        """
        if not isinstance(outputs, list):
            outputs = [cast(ValueKey, outputs)]
        return [self._add_output(self._value_of(key)) for key in outputs]

    def _add_output(self, value: Output) -> Output:
        index = self.get_result_index(value)
        if index < 0:
            index = len(self._results)
            self._results.append(_as_result(value))
        return self._results[index].output(0)

    def _value_of(self, key: ValueKey) -> Output:
        if isinstance(key, (Node, Output)):
            return as_output(key)
        if isinstance(key, str):
            return self._value_named(key)
        if not isinstance(key, tuple) or len(key) != 2 or not isinstance(key[1], int):
            raise ArgumentTypeError(f"an output is added by port, tensor name or (node name, index), not {key!r}")
        for node in self.get_ordered_ops():
            if node.friendly_name == key[0]:
                if not 0 <= key[1] < node.get_output_size():
                    raise GraphError(f"'{key[0]}' has {node.get_output_size()} outputs, so there is no output {key[1]}")
                return node.output(key[1])
        raise GraphError(f"model '{self.friendly_name}' has no operation named {key[0]}")

    def to_networkx(self) -> networkx.MultiDiGraph[Node]:
        """Return the graph with an edge for each Input, and the indices as edge attributes ``output`` and ``input``."""
        import networkx

        graph: networkx.MultiDiGraph[Node] = networkx.MultiDiGraph()
        for node in self.get_ordered_ops():
            graph.add_node(node)
            for reader in node.inputs():
                source = reader.get_source_output()
                graph.add_edge(source.node, node, output=source.index, input=reader.index)
        return graph

    def _value_named(self, name: str) -> Output:
        for node in self.get_ordered_ops():
            for output in node.outputs():
                if name in output.names:
                    return output
        raise GraphError(f"model '{self.friendly_name}' has no tensor named {name}")

    def _check(self) -> None:
        """Raise GraphError if a Parameter is not listed or operations disagree on the type or shape of a variable."""
        listed = set(self._parameters)
        variables: dict[str, VariableInfo] = {}
        for node in self.get_ordered_ops():
            info = getattr(node, "variable_info", None)
            if info is not None and not variables.setdefault(info.variable_id, info).fits(info):
                known = variables[info.variable_id]
                node.fail(
                    f"variable '{info.variable_id}' is {known.data_type}{known.data_shape} elsewhere, "
                    f"but {info.data_type}{info.data_shape} here"
                )
            if isinstance(node, Parameter) and node not in listed:
                raise GraphError(
                    f"model '{self.friendly_name}' reads Parameter '{node.friendly_name}', "
                    "which is not in its list of parameters"
                )

    def __repr__(self) -> str:
        return describe_ports(escaped(f"Model: '{self.friendly_name}'"), self.inputs, self.outputs)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: inputs, outputs, and the number of operations of each type."""
        types = Counter(node.type_info.name for node in self.get_ordered_ops() if not is_terminal(node))
        title = paragraph(f"Model '{self.friendly_name}', {types.total()} operations")
        return title + ports_table(self.inputs, self.outputs) + table(("type", "operations"), types.most_common())


class ReleasedModel:
    """A Model after the ``with`` statement that it was used in."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"{name}: the model has left its with statement, so the attribute is no longer accessible."
        )


def checked_model(value: Model) -> Model:
    """Return a model. Raise ArgumentTypeError if the value is none."""
    if not isinstance(value, Model):
        raise ArgumentTypeError(f"a Model is needed here, not {value!r}")
    return value


def _as_result(value: Node | Output) -> Result:
    if isinstance(value, Output) and isinstance(value.node, Result):
        value = value.node  # an output of another model
    if isinstance(value, Result):
        if not value.output(0).own_names:  # the output is the same tensor as the value that it reads
            value.output(0).names = set(value.input_value(0).names)
        return value
    if not isinstance(value, (Node, Output)):
        raise ArgumentTypeError(f"the results of a model are nodes or their outputs, not {value!r}")
    source = value.output(0) if isinstance(value, Node) else value
    result = Result(source)
    result.friendly_name = f"{source.node.friendly_name}/result"
    result.output(0).names = set(source.names)
    return result
