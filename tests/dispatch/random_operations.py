"""Operations of the conformance table for random graphs, of any shape and type, between values [rows, 3] in f32.

An operation reads elements of its inputs in the shape that its case has, and all elements of its results decide what
is added to a value. Its inputs are small, so that it is defined: whole numbers from 1 to 7, or quarters of them.
"""

import math

import numpy as np

from hetero import Model, Parameter, Type, ops
from hetero.conformance.operations import INTEGERS
from hetero.conformance.operations.elementwise import ELEMENTWISE
from hetero.conformance.operations.layers import LAYERS
from hetero.conformance.operations.movement import MOVEMENT
from hetero.conformance.operations.reduction import REDUCTIONS
from hetero.conformance.operations.weights import WEIGHTS

# A modulus of all integers, a prime so that it keeps the effect of each one.
MODULUS = 61


def exact(graph, a, b):
    """An operation whose result all devices agree on in each bit."""
    tables = [(case, kind) for case in (*ELEMENTWISE, *REDUCTIONS, *LAYERS) for kind in case.kinds if is_whole(kind)]
    moves = [(case, kind) for case in MOVEMENT for kind in case.kinds]
    some = [tables, moves][graph.generator.integers(2)]
    case, kind = some[graph.generator.integers(len(some))]
    node = applied(graph, case, kind, a, b, 0.25 if kind.is_real() else 1)
    total = ops.Constant(np.zeros([1], np.float32)).output(0)
    for output in node.outputs():
        value = output
        if output.element_type.is_integer():
            value = ops.FloorMod(output, output.element_type.to_dtype().type(MODULUS)).output(0)
        flat = ops.Multiply(ops.Reshape(ops.Convert(value, Type.f32), [-1], False), np.float32(4))
        # Sums of sums: the order of elements matters.
        sums = ops.FloorMod(ops.CumSum(flat, 0), np.float32(64))
        total = ops.Add(total, ops.ReduceSum(sums, [0], keep_dims=True)).output(0)
    return ops.Add(a, total)


def is_whole(kind):
    return kind in INTEGERS or kind is Type.boolean


def rounded(graph, a, b, whole):
    """An operation on real numbers, which devices round differently."""
    tables = (ELEMENTWISE, REDUCTIONS, LAYERS, WEIGHTS)
    table = tables[graph.generator.integers(len(tables))]
    some = [(case, kind) for case in table for kind in (Type.f32, Type.f64) if kind in case.kinds]
    case, kind = some[graph.generator.integers(len(some))]
    result = a
    for output in applied(graph, case, kind, whole, whole, 0.25).outputs():
        flat = ops.Reshape(ops.Convert(output, Type.f32), [-1], False)
        ends = ops.Add(ops.Slice(ops.Pad(flat, [0], [3], "constant"), [0], [3], [1], [0]),
                       ops.Slice(ops.Pad(flat, [3], [0], "constant"), [-3], [2**31 - 1], [1], [0]))  # fmt: skip
        known = ops.Select(ops.IsNaN(ends), np.float32(0.5), ends)
        result = ops.Add(result, ops.Tanh(ops.Multiply(known, np.float32(0.125))))
    return result


def applied(graph, case, kind, a, b, scale):
    """Return the operation of a case on elements of values [rows, 3]; its batch is that of the values if it has one."""
    shapes = [case.shapes, *case.more_shapes.values()]
    chosen = int(graph.generator.integers(len(shapes)))
    adapt = batch_of if chosen == 0 and case.batched else elements_of
    inputs = []
    for value, shape in zip((a, b), shapes[chosen]):
        small = ops.Add(ops.FloorMod(value, np.float32(7)), np.float32(1))
        inputs.append(ops.Convert(adapt(ops.Multiply(small, np.float32(scale)), shape), kind).output(0))
    return case.build(*inputs)


def batch_of(value, shape):
    """Return the rows of a value, each repeated to a row of a shape."""
    count = math.prod(shape[1:])
    return ops.Reshape(ops.Slice(ops.Tile(value, [1, -(-count // 3)]), [0], [count], [1], [1]), [0, *shape[1:]], True)


def elements_of(value, shape):
    """Return the elements of a value, which may have none, and ones, repeated to a static shape."""
    some = ops.Pad(ops.Reshape(value, [-1], False), [0], [5], "constant", np.float32(1))
    count = math.prod(shape)
    repeated = ops.Tile(some, [max(1, -(-count // 5))])
    return ops.Reshape(ops.Slice(repeated, [0], [count], [1], [0]), np.int64(shape), False)


def quantized(graph, a, b):
    """Activations in 15 levels, none of which is near the middle of two levels, times integer weights."""
    small = ops.Multiply(ops.FloorMod(a, np.float32(7)), np.float32(0.25))
    low, high = np.float32(0), np.float32(14 * 0.26)
    levels = ops.FakeQuantize(small, low, high, low, np.float32(14), 15)
    weights = ops.Constant(graph.generator.integers(-3, 4, (3, 3)).astype(np.int8))
    scale = np.exp2(graph.generator.integers(0, 3, (3, 1))).astype(np.float32)
    return ops.MatMul(levels, ops.Multiply(ops.Convert(weights, Type.f32), scale), False, True)


def in_branches(graph, a, b):
    """Any two operations in the branches of an If."""
    node = ops.If(ops.Less(ops.ReduceSum(a, [0, 1]), np.float32(graph.generator.integers(-3, 4))))
    bodies = [body_of(graph) for _ in range(2)]
    node.set_then_body(bodies[0])
    node.set_else_body(bodies[1])
    for index, value in enumerate((a, b)):
        node.set_input(value, *(body.parameters[index] for body in bodies))
    return node.set_output(*(body.results[0] for body in bodies))


def in_iterations(graph, a, b):
    """Any operation in the body of a Loop of 0 to 3 iterations."""
    node = ops.Loop(np.int64(graph.generator.integers(4)), np.bool_(True))
    body = body_of(graph, ops.Result(ops.Constant(np.bool_(True))))
    node.set_function(body)
    node.set_special_body_ports([-1, 0])
    node.set_merged_input(body.parameters[0], a, body.results[1].output(0))
    node.set_invariant_input(body.parameters[1], b)
    return node.get_iter_value(body.results[1].output(0), -1)


def body_of(graph, *first):
    """Return a body of two values, with a result after ``first``, whole and small."""
    parameters = [Parameter(Type.f32, [-1, 3]) for _ in range(2)]
    inputs = [parameter.output(0) for parameter in parameters]
    result = ops.Result(graph.small(graph.whole_kind()(graph, *inputs)))
    return Model([*first, result], parameters)
