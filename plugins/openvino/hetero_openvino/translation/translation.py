"""Translation of a model into OpenVINO's, in one walk over the graph, for all operations by their declared attributes.

OpenVINO's node factory makes an operation from its name, its operation set and its attributes, which both runtimes
share. Constants share their memory.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import openvino
from openvino import op

from hetero import ops
from hetero.graph import Constant, Model, Node, Op, Output, Parameter, Result
from hetero.ops import Range, RangeV1
from hetero.ops.control_flow.bodies import (
    InputDescription,
    InvariantInputDescription,
    MergedInputDescription,
    MultiSubGraphOp,
)
from hetero.ops.control_flow.control_flow import If, Loop, TensorIterator
from hetero.ops.control_flow.variables import AssignV3, ReadValue, ReadValueV3
from hetero.passes.bounds.intervals import I32, ITERATIONS, Interval, Intervals, hull, is_integral
from hetero_openvino.errors import message_of
from hetero_openvino.memory import constant
from hetero_openvino.translation import integers
from hetero_openvino.translation.bounds import (
    WITHIN_BOUNDS,
    add_to_branch,
    add_to_loop,
    bounds_of,
    combined,
    is_finite,
)
from hetero_openvino.translation.corrections import corrected, factory
from hetero_openvino.translation.indices import checked, unchecked_reason
from hetero_openvino.translation.limitations import limitation
from hetero_openvino.translation.ports import (
    Untranslatable,
    check_output,
    description_of,
    shape_of,
    type_of,
    variables_of,
)
from hetero_openvino.translation.scanned_outputs import add_counter, counts_iterations, cut_to_iterations
from hetero_openvino.translation.single_operation import make_operation
from hetero_openvino.translation.weights import decompressed

# Operations that OpenVINO removes if they change nothing.
_MAY_BE_LEFT_OUT = {
    "Broadcast", "Concat", "Convert", "Identity", "Pad", "Reshape", "Slice", "Split", "Squeeze", "StridedSlice", "Tile",
    "Transpose", "Unsqueeze", "VariadicSplit",
}  # fmt: skip
_COSTLY = (ops.MatMul, ops.Convolution, ops.GroupConvolution, ops.ScaledDotProductAttention, MultiSubGraphOp)
_WITH_BODIES = {If: op.if_op, Loop: op.loop, TensorIterator: op.tensor_iterator}


class Translation(NamedTuple):
    """OpenVINO's model of the operations that it has, and the reasons for the others.

    Parameters stand for the outputs of the others. Values that nothing reads have a Result.
    """

    model: openvino.Model
    refused: dict[Node, str]


def translate(model: Model, finite: Collection[Output] = (), checked: Collection[Output] = ()) -> openvino.Model:
    """Return OpenVINO's model, with parameters and results in the same order, and possibly further results.

    ``finite``: the values that are neither NaN nor infinite in any inference, if those in ``checked`` are not, which
    the model checks. Raises Untranslatable.
    """
    graph = _Graph(variables_of(model), Intervals(), finite=finite, checked=checked)
    for node in model.get_ordered_ops():
        graph.add(node)
    return graph.build(model)


def translate_supported(model: Model, known: Mapping[Node, str] | None = None) -> Translation:
    """Translate the operations that OpenVINO has, without those in ``known``, which are refused for these reasons."""
    graph, refused = _Graph(variables_of(model), Intervals()), dict(known or {})
    for node in model.get_ordered_ops():
        if node in refused:
            continue
        try:
            graph.add(node)
        except Untranslatable as reason:
            refused[node] = str(reason)
    return Translation(graph.build_open(model.friendly_name), refused)


def translate_alone(node: Node, variables: Model) -> openvino.Model:
    """Return OpenVINO's model of one operation and its constants. ``variables`` is the model with its variables."""
    graph = _Graph(variables_of(variables), Intervals())
    for source in dict.fromkeys(value.node for value in node.input_values()):
        if isinstance(source, Constant):
            graph.add(source)
    graph.add(node)
    return graph.build_open(node.friendly_name)


class _Graph:
    """OpenVINO's graph of a model or a body, node by node in topological order."""

    def __init__(
        self,
        variables: dict[str, op.util.Variable],
        intervals: Intervals,
        same: Mapping[Output, Output] | None = None,
        *,
        finite: Collection[Output] = (),
        checked: Collection[Output] = (),
        is_body: bool = False,
    ) -> None:
        """``same``: values that are others too, which stand for them. The others: as in ``translate``."""
        self._variables, self._same = variables, same or {}
        self._finite, self._checked, self._is_body = finite, checked, is_body
        self._intervals = intervals
        self._values: dict[Output, openvino.Output] = {}
        self._nodes: list[openvino.Node] = []
        # Values that are results too. Initial values of variables, or else OpenVINO would move what computes them into
        # another graph: it fails at chains of some operations, and takes the lengths of an empty value for those of the
        # variable. Outputs of If, or else their memory is that of others too, and lost when they become longer.
        self._further_results: list[openvino.Output] = []
        #: What each inference checks.
        self.bounds: list[openvino.Output] = []

    def add(self, node: Node) -> None:
        """Translate a node. Raises Untranslatable; its outputs are then parameters if others read them."""
        if isinstance(node, Result):
            return
        for value in node.input_values():
            self._source_of(value)
        for value in node.outputs():
            type_of(value)
        try:
            made = self._translated(node)
        except (RuntimeError, TypeError, ValueError) as error:
            raise Untranslatable(f"OpenVINO refuses it: {message_of(error)}") from error
        if len(made) != node.get_output_size():
            raise Untranslatable(f"OpenVINO's has {len(made)} outputs, not {node.get_output_size()}")
        for mine, theirs in zip(node.outputs(), made):
            check_output(mine, theirs)
        computing = [value.get_node() for value in made]
        computing[0].friendly_name = node.friendly_name
        # OpenVINO refuses an Assign that others read.
        outputs = [self._values[node.input_value(0)]] if isinstance(node, AssignV3) else made
        self._values.update(zip(node.outputs(), outputs))
        self.bounds += [is_finite(theirs) for mine, theirs in zip(node.outputs(), outputs) if mine in self._checked]
        self._nodes += {each.friendly_name: each for each in computing}.values()

    def build(self, model: Model, *, is_repeated: bool = False) -> openvino.Model:
        """Return the model, of which all nodes were added. ``is_repeated``: it is the body of a loop."""
        parameters = [self._values[parameter.output(0)].get_node() for parameter in model.parameters]
        for index, parameter in enumerate(parameters):
            parameter.output(0).set_names({f"input {index}"})
        results = []
        for index, mine in enumerate(model.results):
            value = self._translation_of(mine.input_value(0))
            if is_repeated:
                value = _separate(value)
            if not value.get_names():
                value.set_names({f"output {index}"})  # tells the infer request which ports have one value
            results.append(op.Result(value))
            results[-1].friendly_name = mine.friendly_name
        results += [op.Result(value) for value in self._further_results]
        if self.bounds and not self._is_body:
            checked = combined(self.bounds)
            checked.set_names({WITHIN_BOUNDS})
            results.append(op.Result(checked))
        return openvino.Model(results, self._sinks(), parameters, model.friendly_name)

    def build_open(self, name: str) -> openvino.Model:
        """Return a model of all nodes that were added."""
        parameters = [node for node in self._nodes if isinstance(node, op.Parameter)]
        unread = [value for node in self._nodes for value in node.outputs() if not value.get_target_inputs()]
        results = [op.Result(value) for value in (*unread, *self._further_results, *self.bounds)]
        return openvino.Model(results, self._sinks(), parameters, name)

    def _sinks(self) -> list[openvino.Node]:
        """Return the Assign operations, and another one for each variable that is only read, as OpenVINO needs one."""
        read, assigned = self._variable_nodes("ReadValue"), self._variable_nodes("Assign")
        kept = [op.assign(read[name], self._variables[name]) for name in read.keys() - assigned.keys()]
        return [*assigned.values(), *kept]

    def _variable_nodes(self, kind: str) -> dict[str, openvino.Node]:
        """Return the nodes of a type, ReadValue or Assign, by the ids of their variables."""
        return {node.get_variable_id(): node for node in self._nodes if node.get_type_name() == kind}

    def _source_of(self, value: Output) -> openvino.Output:
        """Return the translation of a value; a new parameter if its node was refused."""
        if value not in self._values:
            parameter = op.Parameter(type_of(value), shape_of(value.partial_shape))
            self._nodes.append(parameter)
            self._values[value] = parameter.output(0)
            self._enter(value)
        return self._values[value]

    def _translation_of(self, value: Output) -> openvino.Output:
        return self._values[self._same.get(value, value)]

    def _enter(self, value: Output) -> None:
        """Bound the integers of an input of OpenVINO's model or of a body, which are checked before."""
        if value.element_type in integers.WIDE_TYPES:
            low, high = self._intervals.of(value)
            self._intervals.set(value, Interval(min(max(low, I32.low), I32.high), max(min(high, I32.high), I32.low)))

    def _translated(self, node: Node) -> list[openvino.Output]:
        """Return the outputs of OpenVINO's equivalent."""
        if isinstance(node, Parameter):
            if not self._is_body:
                self._enter(node.output(0))
            return op.Parameter(type_of(node.output(0)), shape_of(node.partial_shape)).outputs()
        if isinstance(node, Constant):
            return constant(node.contents, node.get_element_type()).outputs()
        if (reason := limitation(node) or unchecked_reason(node)) is not None:
            raise Untranslatable(reason)
        if (weights := decompressed(node)) is not None:
            return [weights]
        made = self._made(node)
        if (limit := integers.limitation(node, self._intervals)) is not None:
            self._bound(node, made, limit)
            if limit.interval is integers.F32:
                return made.outputs()
        if isinstance(node, Loop) and counts_iterations(node):
            return cut_to_iterations(node, made)
        if not isinstance(node, Op) or node.get_input_size() == 0 or isinstance(node, MultiSubGraphOp):
            return made.outputs()[: node.get_output_size()]
        if integers.is_integral(node) and not isinstance(node, (Range, RangeV1)):
            return integers.exact(node, made, self._intervals)
        return corrected(node, made, self._finite)

    def _bound(self, node: Node, made: openvino.Node, limit: integers.Limitation) -> None:
        """Let each inference check the integers that an operation computes. Raises Untranslatable if it cannot."""
        reason, interval = limit
        if interval is None or (bounds := bounds_of(node, made, interval)) is None:
            raise Untranslatable(reason)
        self.bounds += bounds
        for value in node.outputs():
            if is_integral(value) and not interval.contains(self._intervals.of(value)):
                self._intervals.set(value, interval)

    def _made(self, node: Node) -> openvino.Node:
        """Return the operation of OpenVINO that has the name of a node."""
        inputs = [self._translation_of(value) for value in node.input_values()]
        if isinstance(node, (ReadValue, ReadValueV3)):
            if inputs and _is_cheap(node.input_value(0)):
                self._further_results += inputs
            return op.read_value(*inputs, self._variables[node.variable_id])
        if isinstance(node, AssignV3):
            # Its constructor takes a node, but not one of several outputs.
            value = node.output(0)
            placeholder = op.Parameter(type_of(value), shape_of(value.partial_shape))
            made = op.assign(placeholder, self._variables[node.variable_id])
            made.set_argument(0, _separate(inputs[0]))
            return made
        if isinstance(node, MultiSubGraphOp):
            return self._with_bodies(node, inputs)
        return checked(node, make_operation(node, inputs, self._finite), self.bounds)

    def _with_bodies(self, node: MultiSubGraphOp, inputs: list[openvino.Output]) -> openvino.Node:
        made = _WITH_BODIES[type(node)]()
        self._feed(node)
        bodies, bounds = zip(*(
            self._body(body, _same_inputs(body, read), is_repeated=not isinstance(node, If))
            for body, read in zip(node.bodies, node.input_descriptions)
        ))  # fmt: skip
        self._collect(node)
        shapes = [value.partial_shape for value in (*node.input_values(), *node.outputs())]
        ports = [
            (
                [description_of(entry, shapes[entry.input_index]) for entry in read],
                [description_of(entry, shapes[len(inputs) + entry.output_index]) for entry in written],
            )
            for read, written in zip(node.input_descriptions, node.output_descriptions)
        ]
        size = node.get_output_size()
        if counts_iterations(node):
            inputs = [*inputs, add_counter(bodies[0], *ports[0], len(inputs), size)]
            size += 1
        if any(bounds) and isinstance(node, If):
            for body, found, (_, written) in zip(bodies, bounds, ports):
                add_to_branch(body, found, written, size)
        elif any(bounds):
            condition = node.get_special_body_ports()[1] if isinstance(node, Loop) else -1
            inputs = [*inputs, add_to_loop(bodies[0], bounds[0], condition, *ports[0], len(inputs), size)]
        size += any(bounds)
        made.set_arguments(inputs)
        if isinstance(node, If):
            for set_body, body in zip((made.set_then_body, made.set_else_body), bodies):
                set_body(body)
            for index, (read, written) in enumerate(ports):
                made.set_input_descriptions(index, read)
                made.set_output_descriptions(index, written)
            made.set_output_size(size)
        else:
            made.set_function(bodies[0]) if isinstance(node, Loop) else made.set_body(bodies[0])
            made.set_input_descriptions(ports[0][0])
            made.set_output_descriptions(ports[0][1])
        if isinstance(node, Loop):
            made.set_special_body_ports(node.get_special_body_ports())
        made.constructor_validate_and_infer_types()
        if any(bounds):
            self.bounds.append(made.output(size - 1))
        if isinstance(node, If):
            self._further_results += [
                theirs for mine, theirs in zip(node.outputs(), made.outputs()) if _is_dynamic_intermediate(mine)
            ]
        return made

    def _feed(self, node: MultiSubGraphOp) -> None:
        """Pass the intervals of inputs on to the parameters of the bodies."""
        for body, read in zip(node.bodies, node.input_descriptions):
            for entry in read:
                parameter = body.parameters[entry.body_parameter_index].output(0)
                if isinstance(entry, MergedInputDescription):
                    self._enter(parameter)  # as is what the body returns
                else:
                    self._intervals.set(parameter, self._intervals.of(node.input_value(entry.input_index)))
        if isinstance(node, Loop) and (index := node.get_special_body_ports()[0]) >= 0:
            self._intervals.set(node.body.parameters[index].output(0), ITERATIONS)

    def _collect(self, node: MultiSubGraphOp) -> None:
        """Find the intervals of the outputs: results of bodies, and what a loop without iterations returns."""
        for value in node.outputs():
            sources = [
                body.results[entry.body_value_index].input_value(0)
                for body, written in zip(node.bodies, node.output_descriptions)
                for entry in written
                if entry.output_index == value.index
            ]
            if not isinstance(node, If):
                sources += [
                    node.input_value(entry.input_index)
                    for entry in node.input_descriptions[0]
                    if isinstance(entry, MergedInputDescription)
                    and any(
                        entry.body_value_index == other.body_value_index and other.output_index == value.index
                        for other in node.output_descriptions[0]
                    )
                ]
            self._intervals.set(value, hull(self._intervals.of(source) for source in sources))

    def _body(
        self, body: Model, same: Mapping[Output, Output], *, is_repeated: bool
    ) -> tuple[openvino.Model, list[openvino.Output]]:
        """Return OpenVINO's body, and what each run of it has to check."""
        graph = _Graph(self._variables, self._intervals, same, finite=self._finite, is_body=True)
        for node in body.get_ordered_ops():
            try:
                graph.add(node)
            except Untranslatable as reason:
                raise Untranslatable(f"{node.type_info.name} '{node.friendly_name}' in its body: {reason}") from reason
        return graph.build(body, is_repeated=is_repeated), graph.bounds


def _same_inputs(body: Model, read: Sequence[InputDescription]) -> dict[Output, Output]:
    """Return the Parameters of a body that are what another one is: an imported model sets only one of them."""
    first: dict[int, Output] = {}
    same = {}
    for each in read:
        if isinstance(each, InvariantInputDescription):
            parameter = body.parameters[each.body_parameter_index].output(0)
            known = first.setdefault(each.input_index, parameter)
            if known is not parameter:
                same[parameter] = known
    return same


def _is_cheap(initial: Output) -> bool:
    """Return whether an initial value may be computed in each inference: no product or body is needed for it."""
    seen, waiting = {initial.node}, [initial.node]
    while waiting:
        node = waiting.pop()
        if isinstance(node, _COSTLY):
            return False
        new = {value.node for value in node.input_values()} - seen
        seen |= new
        waiting += new
    return not isinstance(initial.node, Constant)


def _is_dynamic_intermediate(value: Output) -> bool:
    """Return whether a value is of unknown shape and no result."""
    is_result = any(isinstance(target.node, Result) for target in value.get_target_inputs())
    return value.partial_shape.is_dynamic and not is_result


def _separate(value: openvino.Output) -> openvino.Output:
    """Return a value of its own if it is an input of the model.

    Assign would give the variable the input's memory, so that ReadValue returned the input of the same inference. A
    body that returns one carried value as another would overwrite it before it is read.
    """
    origin = value.get_node()
    while origin.get_type_name() in _MAY_BE_LEFT_OUT:
        origin = origin.input_value(0).get_node()
    if not isinstance(origin, op.Parameter):
        return value
    is_boolean = value.get_element_type() == openvino.Type.boolean
    return factory("opset1").create("LogicalOr" if is_boolean else "Maximum", [value, value], {}).output(0)
