"""Variables and hash tables against LiteRT over several inferences."""

import numpy as np
import pytest

import hetero
from hetero import ops
from hetero.frontend import ConversionExtension
from hetero.system.errors import FrontendError
from tests.frontend.tflite.agreement import EACH_GPU, assert_as_litert, assert_gives
from tests.frontend.tflite.litert import LiteRT, assert_close
from tests.frontend.tflite.models import Graph, Op, build, constant, feed, out, variable

TENS = np.float32([10, 20])
Q = {"scale": 0.1, "zero_point": 3}


class Variable:
    """A variable of a graph, with helpers that create the operators on it."""

    def __init__(self, name, like, container=None):
        self.handle, self.like = out("RESOURCE", (1,)), like
        self.make = Op("VAR_HANDLE", [], [self.handle], shared_name=name, container=container)

    def read(self):
        quantization = {"scale": self.like.scale, "zero_point": self.like.zero_point}
        return Op("READ_VARIABLE", [self.handle], [out(self.like.dtype, self.like.shape, **quantization)])

    def assign(self, value):
        return Op("ASSIGN_VARIABLE", [self.handle, value], [])


def begin_with(**contents):
    """Return the CALL_ONCE that initializes variables."""
    ops = []
    for name, value in contents.items():
        variable = Variable(name, value)
        ops += [variable.make, variable.assign(value)]
    return Op("CALL_ONCE", [], [], init_subgraph_index=Graph(ops, [], [], "begin"))


def running_total(first):
    """Return a model that accumulates its inputs."""
    variable = Variable("total", first)
    before = variable.read()
    total = Op("ADD", [feed((2,)), before.outputs[0]])
    ops = [begin_with(total=first), variable.make, before, total, variable.assign(total.outputs[0])]
    return build(Graph(ops, outputs=total.outputs))


@pytest.mark.parametrize("device", EACH_GPU)
def test_what_is_assigned_is_read_in_the_next_inference(device):
    model = running_total(constant(TENS))
    assert_as_litert(model, device, calls=[model.inputs] * 3)


def test_state_is_named_and_can_be_reset():
    model = running_total(constant(TENS))
    (given_now,) = model.inputs.values()
    request = hetero.Core().compile_model(model.content, "TEMPLATE").create_infer_request()
    request.infer(model.inputs)
    (state,) = request.query_state()
    assert state.name == "total"
    np.testing.assert_allclose(state.state.data, given_now + TENS)
    request.reset_state()
    np.testing.assert_allclose(request.infer(model.inputs)[0], given_now + TENS)


@pytest.mark.parametrize("device", EACH_GPU)
def test_quantized_variables(device):
    """A queue: the newest input replaces the oldest."""
    kept = constant(np.array([[1, 2], [3, 4], [5, 6]], np.int8), **Q)
    variable, newest = Variable("window", kept), feed((1, 2), **Q)
    before = variable.read()
    both = Op("CONCATENATION", [before.outputs[0], newest], [out(np.int8, (4, 2), **Q)], axis=0)
    begin, end = constant([1, 0]), constant([4, 2])
    last = Op("STRIDED_SLICE", [both.outputs[0], begin, end, constant([1, 1])], [out(np.int8, (3, 2), **Q)])
    ops = [begin_with(window=kept), variable.make, before, both, last, variable.assign(last.outputs[0])]
    model = build(Graph(ops, outputs=both.outputs))
    others = [{name: array + 1 for name, array in model.inputs.items()}] * 4
    assert_as_litert(model, device, calls=others)


def test_what_was_assigned_before_is_read():
    value = feed((2,))
    variable = Variable("v", value)
    after = variable.read()
    model = build(Graph([variable.make, variable.assign(value), after], outputs=after.outputs))
    assert_as_litert(model, calls=[{name: -array for name, array in model.inputs.items()}])


def test_two_variables_and_two_handles_of_one():
    first, second = constant([1.0, 2.0]), constant([3.0, 4.0])
    a, again, b = Variable("a", first), Variable("a", first), Variable("b", second)
    reads = [a.read(), b.read()]
    total = Op("ADD", [reads[0].outputs[0], reads[1].outputs[0]])
    later = again.read()
    step = Op("ADD", [total.outputs[0], feed((2,))])
    ops = [begin_with(a=first, b=second), a.make, again.make, b.make, *reads, total, step, a.assign(step.outputs[0])]
    ops += [b.assign(total.outputs[0]), later]
    model = build(Graph(ops, outputs=[total.outputs[0], later.outputs[0]]))
    assert_as_litert(model, calls=[model.inputs] * 3)


def test_a_variable_that_nothing_gives_a_value():
    variable = Variable("v", feed((2,)))
    model = Graph([variable.make, read := variable.read(), Op("ADD", [read.outputs[0], feed((2,))], [out(shape=(2,))])])
    with pytest.raises(FrontendError, match="READ_VARIABLE.*variable 'v' is read, but has no initial value"):
        hetero.Core().read_model(build(model).content)


def test_a_first_value_that_comes_too_late():
    first = constant([1.0, 2.0])
    variable, value = Variable("v", first), feed((2,))
    model = Graph(
        [variable.make, variable.assign(value), begin_with(v=first), read := variable.read()], outputs=read.outputs
    )
    with pytest.raises(FrontendError, match="'v' gets its initial value after its first use"):
        hetero.Core().read_model(build(model).content)


def step_of(first):
    """Return a graph that adds its input to a variable and returns the sum."""
    variable, value = Variable("total", first), feed((2,))
    before = variable.read()
    total = Op("ADD", [before.outputs[0], value])
    return Graph([variable.make, before, total, variable.assign(total.outputs[0])], [value], total.outputs, "step")


@pytest.mark.parametrize("device", EACH_GPU)
def test_variables_that_one_branch_sets(device):
    first, value = constant([1.0, 2.0]), feed((2,))
    other = Graph([Op("SUB", [x := feed((2,)), constant(5.0)])], [x], name="other")
    condition = feed(np.array(True), name="condition")
    op = Op("IF", [condition, value], [out(shape=(2,), dtype=np.float32)])
    op.options = {"then_subgraph_index": step_of(first), "else_subgraph_index": other}
    model = build(Graph([begin_with(total=first), op]))
    calls = [model.inputs | {"condition": np.array(taken)} for taken in (False, True, True, False, True)]
    assert_as_litert(model, device, calls=calls)


TABLES = {
    "words": (np.array(["a", "bc"], object), np.array([5, 6], np.int64), np.array([["bc", "x"]], object), -1),
    "numbers": (np.array([5, 6], np.int64), np.array(["a", "bc"], object), np.array([6, 9, 5], np.int64), "none"),
}


@pytest.mark.parametrize("name", TABLES)
def test_hash_tables(name):
    """LiteRT has no kernels for hash tables by default."""
    keys, values, wanted, default = TABLES[name]
    kinds = ["STRING" if array.dtype == object else "INT64" for array in (keys, values)]

    def table():
        handle = out("RESOURCE", (1,))
        return handle, Op("HASHTABLE", [], [handle], table_id=7, key_dtype=kinds[0], value_dtype=kinds[1])

    handle, make = table()
    filled = [make, Op("HASHTABLE_IMPORT", [handle, constant(keys), constant(values)], [])]
    begin = Op("CALL_ONCE", [], [], init_subgraph_index=Graph(filled, [], [], "begin"))
    handle, make = table()
    default = constant(np.array([default], values.dtype))
    find = Op("HASHTABLE_FIND", [handle, feed(wanted), default], [out(values.dtype, wanted.shape)])
    size = Op("HASHTABLE_SIZE", [handle], [out(np.int64, (1,))])
    model = build(Graph([begin, make, find, size]))
    pairs = dict(zip(keys.tolist(), values.tolist()))
    found = [pairs.get(key, default.data.item()) for key in wanted.flat]
    expected = np.array(found, values.dtype if values.dtype != object else np.str_).reshape(wanted.shape)
    assert_gives(model, [expected, np.array([2], np.int64)], "TEMPLATE")


def recurrence(node):
    """Translate an operator whose state, input 4, is the previous result."""
    total = ops.Add(ops.MatMul(node.get_input(0), node.get_input(1), False, True), node.get_input(3))
    total = ops.Add(total, ops.MatMul(node.get_input(4), node.get_input(2), False, True)).output(0)
    node.set_variable_input(4, total)
    return total


@pytest.mark.parametrize("device", EACH_GPU)
def test_variable_tensors(device):
    """Two operators, each with its own state, translated by an extension that assigns it."""
    weights, bias = constant(np.float32([[0.5, 0.25], [-0.5, 1]])), constant(np.float32([1, -1]))
    first = Op("RNN", [feed((1, 2)), weights, weights, bias, variable((1, 2))])
    second = Op("RNN", [first.outputs[0], weights, weights, bias, variable((1, 2))])
    model = build(Graph([first, second]))
    core = hetero.Core()
    core.add_extension(ConversionExtension("RNN", recurrence))
    request, oracle = core.compile_model(model.content, device).create_infer_request(), LiteRT(model.content)
    for _ in range(4):
        found, expected = request.infer(model.inputs), oracle(model.inputs)
        assert_close({name: found[name] for name in expected}, expected)
