"""WHILE, also with variables, against LiteRT."""

import numpy as np
import pytest

from tests.frontend.tflite.agreement import EACH_GPU, assert_as_litert, assert_gives
from tests.frontend.tflite.models import Graph, Op, build, constant, feed, out
from tests.frontend.tflite.test_control_flow import body_of
from tests.frontend.tflite.test_variables import Variable, begin_with


def loop(condition, body, *inputs, kind="WHILE"):
    """Return a WHILE."""
    results = [out(tensor.dtype, tensor.shape) for tensor in inputs]
    return Op(kind, inputs, results, cond_subgraph_index=condition, body_subgraph_index=body)


def below(limit, *others):
    """Return a condition graph: the counter, its first input, is below a limit."""
    count = feed((), np.int32)
    return Graph([Op("LESS", [count, constant(limit)])], [count, *others], name="condition")


def doubling():
    """Return a body graph that increments the counter and doubles a value."""
    count, value = feed((), np.int32), feed((2, 3))
    steps = [Op("ADD", [count, constant(1)]), Op("ADD", [value, value])]
    return Graph(steps, [count, value], [step.outputs[0] for step in steps], "doubling")


@pytest.mark.parametrize("device", EACH_GPU)
@pytest.mark.parametrize("limit", [0, 1, 5])
def test_while(limit, device):
    op = loop(below(limit, feed((2, 3))), doubling(), feed(np.array(0, np.int32), name="start"), feed((2, 3)))
    model = build(Graph([op]))
    assert_as_litert(model, device, calls=[model.inputs | {"start": np.array(3, np.int32)}])


def test_while_of_stablehlo():
    start, value = feed(np.array(0, np.int32)), feed((2, 3))
    model = build(Graph([loop(below(5, feed((2, 3))), doubling(), start, value, kind="STABLEHLO_WHILE")]))
    assert_gives(model, [np.array(5, np.int32), value.data * 32], "TEMPLATE")


def test_values_that_grow_in_a_loop():
    count, value = feed((), np.int32), feed((2,))
    steps = [Op("ADD", [count, constant(1)]), Op("CONCATENATION", [value, constant([7.0])], [out(shape=(3,))], axis=0)]
    body = Graph(steps, [count, value], [step.outputs[0] for step in steps], "growing")
    assert_as_litert(build(Graph([loop(below(3, feed((2,))), body, feed(np.array(0, np.int32)), feed((2,)))])))


@pytest.mark.parametrize("device", EACH_GPU)
def test_if_within_while(device):
    """Double while the counter is below 2, afterwards take the square root."""
    count, value = feed((), np.int32), feed((2, 3))
    early = Op("LESS", [count, constant(2)])
    branches = [body_of("ADD", x := feed((2, 3)), x), body_of("SUB", feed((2, 3)), constant(1.0))]
    chosen = Op(
        "IF",
        [early.outputs[0], value],
        [out(np.float32, (2, 3))],
        then_subgraph_index=branches[0],
        else_subgraph_index=branches[1],
    )
    step = Op("ADD", [count, constant(1)])
    body = Graph([early, chosen, step], [count, value], [step.outputs[0], chosen.outputs[0]], "body")
    start = feed(np.array(0, np.int32))
    assert_as_litert(build(Graph([loop(below(4, feed((2, 3))), body, start, feed((2, 3)))])), device)


@pytest.mark.parametrize("device", EACH_GPU)
def test_variables_that_a_loop_sets(device):
    """The addend grows by a variable that is only read."""
    first, limit = constant([1.0, 2.0]), constant([0.5, 0.25])
    total, more = Variable("total", first), Variable("more", limit)
    count = feed((), np.int32)
    reads = [total.read(), more.read()]
    sum_ = Op("ADD", [reads[0].outputs[0], reads[1].outputs[0]])
    step = Op("ADD", [count, constant(1)])
    body = Graph(
        [total.make, more.make, *reads, sum_, total.assign(sum_.outputs[0]), step], [count], step.outputs, "body"
    )
    condition = Graph([Op("LESS", [x := feed((), np.int32), constant(3)])], [x], name="condition")
    start = feed(np.array(0, np.int32))
    loop = Op("WHILE", [start], [out(np.int32, ())], cond_subgraph_index=condition, body_subgraph_index=body)
    after = Variable("total", first)
    read = after.read()
    model = build(
        Graph([begin_with(total=first, more=limit), loop, after.make, read], outputs=[*loop.outputs, *read.outputs])
    )
    assert_as_litert(model, device, calls=[model.inputs] * 2)


def test_a_handle_that_goes_into_a_loop():
    first = constant([1.0, 2.0])
    outer = Variable("total", first)
    inner = Variable("total", first)
    count, step = feed((), np.int32), None
    inner.handle = feed((1,), "RESOURCE")
    read = inner.read()
    doubled = Op("ADD", [read.outputs[0], read.outputs[0]])
    step = Op("ADD", [count, constant(1)])
    body = Graph(
        [read, doubled, inner.assign(doubled.outputs[0]), step],
        [count, inner.handle],
        [step.outputs[0], inner.handle],
        "body",
    )
    x = feed((), np.int32)
    condition = Graph([Op("LESS", [x, constant(3)])], [x, feed((1,), "RESOURCE")], name="condition")
    loop = Op("WHILE", [feed(np.array(0, np.int32)), outer.handle], [out(np.int32, ()), out("RESOURCE", (1,))])
    loop.options = {"cond_subgraph_index": condition, "body_subgraph_index": body}
    after = Op("READ_VARIABLE", [loop.outputs[1]], [out(np.float32, (2,))])
    model = build(Graph([begin_with(total=first), outer.make, loop, after], outputs=[loop.outputs[0], *after.outputs]))
    assert_as_litert(model, calls=[model.inputs] * 2)
