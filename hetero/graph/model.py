"""Model: a graph from Parameters to Results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from hetero.errors import GraphError
from hetero.graph.node import Named, Node, Output, as_output
from hetero.graph.order import topological_order, walk_nested
from hetero.graph.rt_info import InfoPath, get_info, has_info, set_info
from hetero.graph.terminals import Parameter, Result
from hetero.graph.variable import Variable, VariableInfo
from hetero.messages import escaped
from hetero.shape import PartialShape, PartialShapeLike
from hetero.static_shape import Shape
from hetero.types import Type

if TYPE_CHECKING:
    import networkx

PortKey = int | str | Output


class Model(Named):
    """A graph from Parameters to Results: ``Model(results, parameters, name)``.

    Results may be given as the nodes or outputs that they return. Sinks are nodes that run although no Result depends
    on them, such as Assign: ``Model(results, sinks, parameters, name)``.
    """

    def __init__(
        self,
        results: Sequence[Node | Output] | Node | Output,
        parameters: Sequence[Parameter],
        name: str | Sequence[Parameter] = "Model",
        *more: str,
        sinks: Sequence[Node] = (),
    ) -> None:
        if not isinstance(name, str):
            sinks, parameters, name = parameters, name, more[0] if more else "Model"
        results = [results] if isinstance(results, (Node, Output)) else results
        self._results = [_as_result(r) for r in results]
        self._sinks = list(sinks)
        self._parameters = list(parameters)
        self._friendly_name = name
        self.rt_info: dict[str, Any] = {}
        self._check()

    def get_rt_info(self, path: InfoPath | None = None) -> Any:
        """Return the rt_info of the model, or its entry at a path of keys. Raise GraphError if there is none."""
        return self.rt_info if path is None else get_info(self.rt_info, path)

    def set_rt_info(self, value: Any, path: InfoPath) -> None:
        """Set the rt_info entry at a path of keys, and create the dictionaries on the way."""
        set_info(self.rt_info, path, value)

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

    def replace_parameter(self, index: int, parameter: Parameter) -> None:
        """Replace an input by another Parameter, also for all nodes that read it."""
        old = self._parameters[index]
        for target in old.output(0).get_target_inputs():
            target.replace_source_output(parameter.output(0))
        self._parameters[index] = parameter

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

    def get_result_index(self, value: Output | Result) -> int:
        """Return the index of a Result, or of the Result of a value, among the outputs; -1 if there is none."""
        for index, result in enumerate(self._results):
            if value is result or value in (result.output(0), result.input_value(0)):
                return index
        return -1

    def get_output_size(self) -> int:
        return len(self._results)

    def get_output_op(self, index: int) -> Result:
        return self._results[index]

    def get_output_element_type(self, index: int) -> Type:
        return self._results[index].get_output_element_type(0)

    def get_output_partial_shape(self, index: int) -> PartialShape:
        return self._results[index].get_output_partial_shape(0)

    def get_output_shape(self, index: int) -> Shape:
        return self._results[index].get_output_shape(0)

    def _index_of(self, nodes: Sequence[Node], node: Node) -> int:
        if node not in nodes:
            raise GraphError(f"'{node.friendly_name}' is not in model '{self.friendly_name}'")
        return nodes.index(node)

    @property
    def sinks(self) -> list[Node]:
        """The nodes that run although no Result depends on them."""
        return list(self._sinks)

    def get_sinks(self) -> list[Node]:
        return self.sinks

    def remove_sink(self, sink: Node) -> None:
        """Remove a node from the sinks. Raise GraphError if it is none of them."""
        self._sinks.pop(self._index_of(self._sinks, sink))

    def add_sinks(self, sinks: Sequence[Node]) -> None:
        """Add nodes that run although no Result depends on them."""
        self._sinks = list(dict.fromkeys([*self._sinks, *sinks]))

    @property
    def variables(self) -> list[Variable]:
        """The variables that operations of the model, also those in bodies, read or set."""
        infos: dict[str, VariableInfo] = {}
        for node in walk_nested(self.get_ordered_ops()):
            info = getattr(node, "variable_info", None)
            if info is not None:
                infos.setdefault(info.variable_id, info)
        return [Variable(info) for info in infos.values()]

    def get_variables(self) -> list[Variable]:
        return self.variables

    def get_variable_by_id(self, variable_id: str) -> Variable:
        """Return the variable of this name. Raise GraphError if there is none."""
        for variable in self.variables:
            if variable.info.variable_id == variable_id:
                return variable
        raise GraphError(f"model '{self.friendly_name}' has no variable {variable_id}")

    @property
    def inputs(self) -> list[Output]:
        """The outputs of the Parameters."""
        return [parameter.output(0) for parameter in self._parameters]

    @property
    def outputs(self) -> list[Output]:
        """The outputs of the Results."""
        return [result.output(0) for result in self._results]

    def input(self, key: PortKey | None = None) -> Output:
        """Return an input by index, name or port, or the only one. Raise GraphError if there is no such input."""
        return find_port(self.inputs, key, f"model '{self.friendly_name}' has no input")

    def output(self, key: PortKey | None = None) -> Output:
        """Return an output by index, name or port, or the only one. Raise GraphError if there is no such output."""
        return find_port(self.outputs, key, f"model '{self.friendly_name}' has no output")

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

    def reshape(self, shapes: PartialShapeLike | Mapping[PortKey, PartialShapeLike]) -> None:
        """Set the shapes of inputs, and infer all others: a shape for the only input, or a dict by index, name or port.

        Raises GraphError, or any exception of a user-defined operation, if the shapes do not fit. The model then keeps
        its shapes.
        """
        if not isinstance(shapes, Mapping):
            shapes = {self.input(): shapes}
        changes = {cast(Parameter, self.input(key).node): PartialShape(shape) for key, shape in shapes.items()}
        before = {node: node.partial_shape for node in changes}
        for node, shape in changes.items():
            node.partial_shape = shape
        try:
            self.validate_nodes_and_infer_types()
        except Exception:  # a user-defined operation may raise anything
            for node, shape in before.items():
                node.partial_shape = shape
            self.validate_nodes_and_infer_types()
            raise

    def clone(self) -> Model:
        """Return a copy of the model. Constants share their arrays; names and rt_info are copied."""
        return self.clone_with_nodes()[0]

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
        )
        model.rt_info.update(self.rt_info)
        return model, copies

    def add_outputs(self, outputs: Sequence[Output | Node | str] | Output | Node | str) -> list[Output]:
        """Add values, given as outputs, nodes or tensor names, to the outputs of the model; return the new outputs."""
        if isinstance(outputs, (Output, Node, str)):
            outputs = [outputs]
        added = [_as_result(self._value_named(o) if isinstance(o, str) else o) for o in outputs]
        self._results += added
        return [result.output(0) for result in added]

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
        return escaped(f"<Model: '{self.friendly_name}' inputs={self.inputs} outputs={self.outputs}>")


def find_port(ports: Sequence[Output], key: PortKey | None, problem: str) -> Output:
    """Return a port by index, name or port, or the only one.

    Raises GraphError with a message that begins with ``problem`` if there is no such port.
    """
    if key is None:
        if len(ports) == 1:
            return ports[0]
        raise GraphError(f"{problem} by default: it has {len(ports)}, choose one by index or name")
    if isinstance(key, Output):
        if key in ports:
            return key
        # A port of the model that this one was compiled from has the same names.
        for port in ports:
            if key.names and key.names & port.names:
                return port
    elif isinstance(key, int):
        if -len(ports) <= key < len(ports):
            return ports[key]
    else:
        for port in ports:
            if key in port.names or key == port.node.friendly_name:
                return port
    known = ", ".join(port_name(port) for port in ports)
    raise GraphError(f"{problem} {key}: it has {known or 'none'}")


def port_name(port: Output) -> str:
    """Return the name of a port in messages: a tensor name, or the node's name if it has none."""
    return port.any_name if port.names else port.node.friendly_name


def _as_result(value: Node | Output) -> Result:
    if isinstance(value, Result):
        return value
    source = as_output(value)
    result = Result(source)
    result.friendly_name = f"{source.node.friendly_name}/result"
    result.output(0).names = set(source.names)
    return result
