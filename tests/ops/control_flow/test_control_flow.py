"""If, Loop and TensorIterator: built by the same calls in OpenVINO and here, they infer and compute the same.

A builder is a function of the operations of one of the two, its ``Model`` class and a function that makes Parameters.
"""

from importlib import import_module
from io import BytesIO
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import openvino
import pytest

import hetero
from hetero.frontend.ir.weights import WeightsWriter
from hetero.frontend.ir.writer import model_element
from hetero.ops.control_flow.bodies import BodyOutputDescription, InvariantInputDescription
from hetero.opset_modules import make_modules
from hetero.passes import eliminate_common_subexpressions, fold_constants
from hetero.reference import evaluate
from hetero.system.errors import DeviceError, GraphError
from tests.devices import GPUS

F32 = np.float32
X = np.arange(2, dtype=F32).reshape(1, 2)


def _library(module, model, shape) -> SimpleNamespace:
    def parameter(dimensions, dtype=F32):
        return module.parameter(shape(dimensions), dtype)

    return SimpleNamespace(
        op=module, model=model, parameter=parameter, constant=lambda v: module.constant(np.asarray(v))
    )


OURS = _library(make_modules()["opset13"], hetero.Model, hetero.PartialShape)
THEIRS = _library(import_module("openvino.opset13"), openvino.Model, openvino.PartialShape)


CORE = hetero.Core()
# Each device has its own implementation of bodies.
DEVICES = ["TEMPLATE", *GPUS]


def _run_ours(model, arrays, device="TEMPLATE"):
    return [np.array(a) for a in CORE.compile_model(model, device)(list(arrays)).to_tuple()]


def _run_theirs(model, arrays):
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = compiled(list(arrays))
    return [np.array(results[output]) for output in compiled.outputs]


def _read_again(model):
    """Return hetero's and OpenVINO's model read from hetero's IR, and hetero's model read from OpenVINO's IR."""
    weights = BytesIO()
    xml = ElementTree.tostring(model_element(model, WeightsWriter(weights)))
    theirs = openvino.Core().read_model(xml, weights.getvalue())
    with TemporaryDirectory() as folder:
        openvino.serialize(theirs, f"{folder}/model.xml")
        back = hetero.Core().read_model(f"{folder}/model.xml")
    return hetero.Core().read_model(xml, weights.getvalue()), back, theirs


def same(build, *arrays, shapes=None):
    """Assert that shapes and results equal OpenVINO's, also for a clone and after writing and reading files.

    ``shapes`` are the expected shapes if OpenVINO's are wrong.
    """
    ours, theirs = build(OURS), build(THEIRS)
    theirs.validate_nodes_and_infer_types()
    wanted = shapes or [str(output.partial_shape) for output in theirs.outputs]
    assert [str(output.partial_shape) for output in ours.outputs] == wanted
    expected = _run_theirs(theirs, arrays)
    *read, read_by_them = _read_again(ours)
    for found, wanted in zip(_run_theirs(read_by_them, arrays), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    for model in (ours, ours.clone(), *read):
        _check(_run_ours(model, arrays), expected)
    for device in DEVICES:
        _check(_run_ours(ours, arrays, device), expected)


def _check(results, expected):
    for found, wanted in zip(results, expected, strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


def loop(lib, *, trip_count=4, starts=True, goes_on=None, shape=(1, 2), body_shape=(-1, -1)):
    """Loop over x = 2x + w that outputs the last and every x; ``goes_on`` makes the condition from iteration and x."""
    op = lib.op
    x, w = lib.parameter(list(shape)), lib.parameter([2])
    inputs = [x, w]
    if trip_count is None:
        inputs.append(lib.parameter([], np.int64))
    if starts is None:
        inputs.append(lib.parameter([], np.bool_))
    count = lib.constant(np.int64(trip_count)) if trip_count is not None else inputs[2]
    first = lib.constant(starts) if starts is not None else inputs[-1]
    state, addend, number = lib.parameter(list(body_shape)), lib.parameter([2]), lib.parameter([], np.int64)
    after = op.add(op.multiply(state, lib.constant(F32(2))), addend)
    again = lib.constant(True) if goes_on is None else goes_on(op, number, after)
    body = lib.model([lib.op.result(again), lib.op.result(after)], [number, state, addend], "body")
    node = op.loop(count.output(0), first.output(0))
    node.set_function(body)
    node.set_special_body_ports([0, 0])
    node.set_merged_input(state, x.output(0), body.results[1].output(0))
    node.set_invariant_input(addend, w.output(0))
    last = node.get_iter_value(body.results[1].output(0), -1)
    every = node.get_concatenated_slices(body.results[1].output(0), 0, 1, 1, -1, 0)
    return lib.model([lib.op.result(last), lib.op.result(every)], inputs, "loop")


def _below(limit):
    return lambda op, number, after: op.less(number, op.constant(np.int64(limit)))


W = np.array([1, -1], F32)
ONE_OR_NONE = ["[1,2]", "[?,2]"]
LOOPS = {
    "a count": ({}, (), None),
    "a count and a condition": ({"goes_on": _below(1)}, (), None),
    "a count that is an input": ({"trip_count": None}, (np.int64(3),), None),
    "a condition that is an input": ({"starts": None}, (np.bool_(True),), ONE_OR_NONE),
    "no limit but the condition": ({"trip_count": -1, "goes_on": _below(2)}, (), None),
    "a dynamic state": ({"shape": (-1, 2)}, (), None),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loop_as_openvino(name):
    keywords, more, shapes = LOOPS[name]
    same(lambda lib: loop(lib, **keywords), X, W, *more, shapes=shapes)


def if_op(lib, shapes=((2, 3), (2, 3)), known=None):
    """Double the first input or negate the second; the condition is an input or the constant ``known``."""
    op = lib.op
    inputs = [lib.parameter(list(shape)) for shape in shapes] + ([] if known is not None else [lib.parameter([], bool)])
    node = op.if_op((lib.constant(known) if known is not None else inputs[2]).output(0))
    first, second = lib.parameter([-1, -1]), lib.parameter([-1, -1])
    doubled = op.result(op.add(first, first))
    negated = op.result(op.negative(second))
    node.set_then_body(lib.model([doubled], [first], "then"))
    node.set_else_body(lib.model([negated], [second], "else"))
    node.set_input(inputs[0].output(0), first, None)
    node.set_input(inputs[1].output(0), None, second)
    made = node.set_output(doubled, negated)
    return lib.model([op.result(made)], inputs, "if")


Y = np.arange(6, dtype=F32).reshape(2, 3)


@pytest.mark.parametrize("condition", [True, False])
@pytest.mark.parametrize("shapes", [((2, 3), (2, 3)), ((2, 3), (2, 4)), ((-1, 3), (2, 3))])
def test_if_as_openvino(shapes, condition):
    arrays = [Y, np.arange(8, dtype=F32).reshape(2, 4) if shapes[1] == (2, 4) else -Y]
    same(lambda lib: if_op(lib, shapes), *arrays, np.bool_(condition))
    same(lambda lib: if_op(lib, shapes, condition), *arrays)


def iterator(lib, start=0, stride=1, part=1, end=-1, axis=0, rows=4, concat=(0, 1, 1, -1, 0)):
    """Cumulative sums of the slices of x, and each sum times a factor."""
    op = lib.op
    x, factor = lib.parameter([rows, 4]), lib.parameter([1])
    shape = [4 if axis else part, part if axis else 4]
    slice_, state, f = lib.parameter(shape), lib.parameter(shape), lib.parameter([1])
    total = op.add(state, slice_)
    results = [op.result(total), op.result(op.multiply(total, f))]
    node = op.tensor_iterator()
    node.set_body(lib.model(results, [slice_, state, f], "body"))
    zeros = lib.constant(np.zeros(shape, F32))
    node.set_sliced_input(slice_, x.output(0), start, stride, part, end, axis)
    node.set_merged_input(state, zeros.output(0), results[0].output(0))
    node.set_invariant_input(f, factor.output(0))
    last = node.get_iter_value(results[0].output(0), -1)
    every = node.get_concatenated_slices(results[1].output(0), *concat)
    return lib.model([op.result(last), op.result(every)], [x, factor], "iterator")


SQUARE = np.arange(16, dtype=F32).reshape(4, 4)
ITERATORS = {
    "rows": {},
    "rows backward": {"start": -1, "stride": -1, "end": 0},
    "pairs of rows": {"stride": 2, "part": 2, "concat": (0, 2, 2, -1, 0)},
    "columns": {"axis": 1, "concat": (0, 1, 1, -1, 1)},
    "joined backward": {"concat": (-1, -1, 1, 0, 0)},
    "pairs of columns backward, joined backward": {
        "start": -1, "stride": -2, "part": 2, "end": 0, "axis": 1, "concat": (-1, -2, 2, 0, 1)
    },
}  # fmt: skip


@pytest.mark.parametrize("name", ITERATORS)
def test_tensor_iterator_as_openvino(name):
    same(lambda lib: iterator(lib, **ITERATORS[name]), SQUARE, F32([3]))


def test_tensor_iterator_of_an_unknown_number_of_parts():
    model = iterator(OURS, rows=-1)
    assert [str(output.partial_shape) for output in model.outputs] == ["[1,4]", "[?,4]"]
    for rows in (3, 1, 0):
        last, every = _run_ours(model, [SQUARE[:rows], F32([2])])
        sums = np.cumsum(SQUARE[:rows], axis=0, dtype=F32)
        np.testing.assert_array_equal(every, 2 * sums)
        np.testing.assert_array_equal(last, sums[-1:] if rows else np.zeros([1, 4], F32))


def test_a_tensor_iterator_may_run_over_a_part_of_the_axis():
    """Slices from the second to the third row."""
    _, every = _run_ours(iterator(OURS, start=1, end=-2), [SQUARE, F32([1])])
    np.testing.assert_array_equal(every, np.cumsum(SQUARE[1:3], axis=0))


@pytest.mark.parametrize(("trip_count", "starts"), [(0, True), (3, False)])
def test_a_loop_of_no_iterations_hands_on_its_input(trip_count, starts):
    """If the initial condition is false, OpenVINO infers empty results, unlike ONNX and its own evaluation."""
    model = loop(OURS, trip_count=trip_count, starts=starts)
    assert [str(output.partial_shape) for output in model.outputs] == ["[1,2]", "[0,2]"]
    last, every = _run_ours(model, [X, W])
    np.testing.assert_array_equal(last, X)
    assert every.shape == (0, 2)


def loop_node(model):
    return next(node for node in model.get_ops() if isinstance(node, hetero.ops.Loop))


def test_a_value_of_one_iteration():
    model = loop(OURS)
    node = loop_node(model)
    value = node.get_function().results[1].output(0)
    of_one = hetero.Model([node.get_iter_value(value, 1)], model.parameters)
    # Only hetero's IR has the iteration; OpenVINO's would return the last one.
    for one in (of_one, _read_again(of_one)[0]):
        np.testing.assert_array_equal(_run_ours(one, [X, W])[0], 2 * (2 * X + W) + W)
    late = node.get_iter_value(value, 9)
    with pytest.raises(DeviceError, match="there is no iteration 9: its body ran 4 times"):
        _run_ours(hetero.Model([late], model.parameters), [X, W])


def test_bodies_are_cloned_with_their_node():
    model = loop(OURS)
    nodes = [loop_node(model), loop_node(model.clone())]
    bodies = [node.get_function() for node in nodes]
    assert bodies[0] is not bodies[1]
    assert not set(bodies[0].get_ops()) & set(bodies[1].get_ops())
    assert nodes[0].get_input_descriptions() == nodes[1].get_input_descriptions()
    assert nodes[0].get_output_descriptions() == nodes[1].get_output_descriptions()
    assert nodes[0].get_special_body_ports() == nodes[1].get_special_body_ports() == [0, 0]


def test_a_loop_made_of_its_parts():
    """Build the node like a frontend."""
    made = loop_node(loop(OURS))
    node = hetero.ops.Loop()
    node.set_arguments(made.input_values())
    node.set_function(made.get_function())
    node.set_input_descriptions(made.get_input_descriptions())
    node.set_output_descriptions(made.get_output_descriptions())
    node.set_special_body_ports(made.get_special_body_ports())
    node.infer()
    assert [str(o.partial_shape) for o in node.outputs()] == [str(o.partial_shape) for o in made.outputs()]


def test_reshaping_goes_through_bodies():
    model = loop(OURS, shape=(-1, 2))
    model.reshape({0: [5, 2]})
    assert [str(output.partial_shape) for output in model.outputs] == ["[5,2]", "[20,2]"]
    with pytest.raises(GraphError):
        model.reshape({0: [5, 3]})
    assert [str(output.partial_shape) for output in model.outputs] == ["[5,2]", "[20,2]"]


def test_a_loop_of_constants_is_folded():
    model = loop(OURS)
    for parameter, array in zip(model.parameters, (X, W)):
        parameter.output(0).replace(hetero.ops.Constant(array).output(0))
    assert fold_constants(model)
    assert not any(isinstance(node, hetero.ops.Loop) for node in model.get_ops())
    for result, wanted in zip(model.results, _run_ours(loop(OURS), [X, W])):
        np.testing.assert_array_equal(result.input_value(0).node.data, wanted)


def choice(first, second, name=None):
    """Return an If of two unary operations, and its Parameters for the condition and x."""
    op = OURS.op
    condition, x, inner, other = OURS.parameter([], bool), *(OURS.parameter([2]) for _ in range(3))
    node = op.if_op(condition, name=name)
    results = op.result(first(inner)), op.result(second(other))
    node.set_then_body(hetero.Model(results[0], [inner]))
    node.set_else_body(hetero.Model(results[1], [other]))
    node.set_input(x, inner, other)
    return node.set_output(*results), [condition, x]


def test_nodes_of_different_bodies_are_not_one():
    op = OURS.op
    (first, parameters), (second, others) = choice(op.exp, op.relu), choice(op.negative, op.relu)
    for parameter, other in zip(parameters, others):
        other.output(0).replace(parameter.output(0))
    model = hetero.Model([first, second], parameters)
    eliminate_common_subexpressions(model)
    found = _run_ours(model, [np.bool_(True), F32([1, 2])])
    np.testing.assert_allclose(found, [np.exp(F32([1, 2])), [-1, -2]], rtol=1e-6)


def test_bodies_must_be_complete():
    made, parameters = choice(OURS.op.exp, OURS.op.relu, "choice")
    made.node.set_input_descriptions(1, [])
    with pytest.raises(DeviceError, match="If 'choice': parameter '.*' of its body has no source"):
        hetero.Core().compile_model(hetero.Model(made, parameters), "TEMPLATE")
    alone = OURS.op.loop(OURS.constant(np.int64(1)), OURS.constant(True), name="alone")
    with pytest.raises(GraphError, match="Loop 'alone': it is incomplete; set its bodies and its inputs"):
        evaluate(alone, [])


class Unheard(hetero.Op):
    """An operation that the reference cannot evaluate."""

    inputs = ("x",)

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


def test_a_device_must_know_what_is_in_bodies():
    made, parameters = choice(lambda x: Unheard(x, name="mine"), OURS.op.relu, "choice")
    found = hetero.Core().query_model(hetero.Model(made, parameters), "TEMPLATE")
    assert found.refused == {
        "choice": "the reference does not evaluate extension::Unheard 'mine' in its body: its class has no evaluate"
    }


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda n: n.set_special_body_ports([0, 7]), "the body has no result 7: it has 2"),
        (lambda n: n.set_special_body_ports([0, 1]), "the body's condition must be boolean, but is f32"),
        (
            lambda n: n.set_input_descriptions([InvariantInputDescription(9, 1)]),
            "a body reads input 9, but there",
        ),
        (lambda n: n.set_input_descriptions([InvariantInputDescription(2, 9)]), "the body has no parameter 9"),
        (lambda n: n.set_output_descriptions([BodyOutputDescription(1, 1)]), "no body computes output 0"),
        (lambda n: n.input(0).replace_source_output(n.input_value(2)), "input 0 must be a scalar or have one element"),
        (lambda n: n.input(1).replace_source_output(n.input_value(0)), "the condition must be boolean, but is i64"),
        (lambda n: n.set_invariant_input(OURS.parameter([1]), n.input_value(2)), "is not among the body's"),
    ],
)
def test_bodies_that_do_not_fit_are_refused(change, message):
    node = loop_node(loop(OURS))
    with pytest.raises(GraphError, match=message):
        change(node)
        node.infer()


def test_what_openvino_calls_these_operations():
    for name in ("loop", "tensor_iterator", "if_op"):
        ours, theirs = getattr(OURS.op, name)(), getattr(THEIRS.op, name)()
        assert ours.type_info == (theirs.type_info.name, theirs.type_info.version_id)
