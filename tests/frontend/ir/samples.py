"""A model with every feature that an IR file can hold."""

import ml_dtypes
import numpy as np

import hetero
from hetero import opset15 as ops
from hetero.graph.variable import Variable, VariableInfo


def full_model() -> hetero.Model:
    """Bodies, a variable, strings, packed and empty constants, and operations of every kind of attribute."""
    x = hetero.Parameter(hetero.Type.f32, "[?,3,8..64,16]", name="x")
    count = hetero.Parameter(hetero.Type.i64, [], name="count")
    words = hetero.Parameter(hetero.Type.string, [2], name="words")
    filters = hetero.Constant(np.ones((4, 3, 2, 2), np.float32), name="filters")
    convolved = ops.convolution(x, filters, [1, 1], [0, 0], [1, 1], [1, 1], name="convolved")
    pooled = ops.max_pool(convolved, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2], axis=1, name="pooled")
    rounded = ops.clamp(pooled.output(0), -1.5, 2.5, name="clamped")
    halves = ops.split(rounded, 1, 2, name="halves")
    small = ops.convert(hetero.Constant(np.array([-8, 7, 3], ml_dtypes.int4), name="small"), "i64", name="widened")
    empty = hetero.Constant(np.zeros((0,), np.int64), name="empty")
    joined = ops.concat([small, empty], 0, name="joined")
    variable = Variable(VariableInfo("memory", hetero.Type.i64, hetero.PartialShape([3])))
    memory = ops.read_value(joined, variable, name="memory")
    kept = ops.assign(ops.add(memory, count, name="more"), variable, name="kept")
    known = ops.string_tensor_unpack(hetero.Constant(np.array(["one", "vier"]), name="texts"), name="unpacked")
    outputs = [
        ops.reduce_mean(halves.output(1), [2, -1], keep_dims=True, name="mean"),
        _loop(count), _branch(count), kept, words, known.output(2),
    ]  # fmt: skip
    return hetero.Model(outputs, [x, count, words], "full", sinks=[kept])


def _loop(count: hetero.Node) -> hetero.Node:
    number, state = (
        hetero.Parameter(hetero.Type.i64, [], name="number"),
        hetero.Parameter(hetero.Type.i64, [], name="s"),
    )
    after = ops.add(state, number, name="after")
    again = hetero.Constant(np.bool_(True), name="again")
    body = hetero.Model([again, after], [number, state], "body")
    loop = ops.loop(count, hetero.Constant(np.bool_(True), name="starts"))
    loop.friendly_name = "loop"
    loop.set_function(body)
    loop.set_special_body_ports([0, 0])
    loop.set_merged_input(state, count.output(0), body.results[1].output(0))
    loop.get_iter_value(body.results[1].output(0), -1)
    return loop


def _branch(count: hetero.Node) -> hetero.Node:
    node = ops.if_op(ops.greater(count, np.int64(3)))
    node.friendly_name = "branch"
    bodies = []
    for place, factor in enumerate((2, -3)):
        given = hetero.Parameter(hetero.Type.i64, [], name=f"given{place}")
        bodies.append(hetero.Model([ops.multiply(given, np.int64(factor))], [given], f"body{place}"))
        node.set_function(place, bodies[-1])
    node.set_input(count.output(0), bodies[0].parameters[0], bodies[1].parameters[0])
    node.set_output(bodies[0].results[0], bodies[1].results[0])
    return node
