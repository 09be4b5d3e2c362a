"""Random graphs of common operations, with integers, NaN, infinities, empty values and bodies, for real devices.

Whole numbers are kept apart from other numbers, which devices round differently: only whole ones decide comparisons,
indices and orders, so that results of all devices agree.
"""

import numpy as np

from hetero import Model, Parameter, Type, ops
from tests.dispatch.random_operations import exact, in_branches, in_iterations, quantized, rounded

WIDTH = 3
BIG = 2**40 + 1


class RandomGraph:
    """A model of ``x``, whole numbers [rows, 3] in f32, and ``y``, other numbers of the same shape.

    ``whole_kinds`` and ``real_kinds``: functions that make an operation from values.
    """

    def __init__(self, seed, size=24, whole_kinds=None, real_kinds=None):
        self.whole_kinds, self.real_kinds = whole_kinds or WHOLE, real_kinds or REAL
        self.generator = np.random.default_rng(seed)
        rows = -1 if self.generator.random() < 0.5 else int(self.generator.integers(0, 4))
        self.parameters = [Parameter(Type.f32, [rows, WIDTH], name=name) for name in "xy"]
        self.rows = int(self.generator.integers(0, 5)) if rows == -1 else rows
        self.whole = [self.parameters[0].output(0)]
        self.real = [self.parameters[1].output(0)]
        for _ in range(size):
            self.add()
        values = self.whole[-3:] + self.real[-3:]
        self.model = Model(values, self.parameters, f"random {seed}")
        for index, node in enumerate(self.model.get_ordered_ops()):
            if not isinstance(node, Parameter):
                node.friendly_name = f"n{index}"

    def inputs(self):
        whole = self.generator.integers(-9, 10, (self.rows, WIDTH)).astype(np.float32)
        return [whole, self.generator.standard_normal((self.rows, WIDTH)).astype(np.float32)]

    def pick(self, values):
        return values[-int(self.generator.integers(1, len(values) + 1))]

    def add(self):
        if self.generator.random() < 0.6:
            kind = self.whole_kind()
            self.whole.append(self.small(kind(self, self.pick(self.whole), self.pick(self.whole))))
        else:
            kind = self.real_kinds[self.generator.integers(len(self.real_kinds))]
            self.real.append(as_output(kind(self, self.pick(self.real), self.pick(self.real), self.pick(self.whole))))

    def whole_kind(self):
        return self.whole_kinds[self.generator.integers(len(self.whole_kinds))]

    @staticmethod
    def small(made):
        """Return whole numbers that are small again, so that no device leaves the whole numbers of f32."""
        return ops.FloorMod(as_output(made), np.float32(64)).output(0)


def as_output(value):
    return value if hasattr(value, "node") else value.output(0)


def integers(graph, a, b):
    """Arithmetic of integers, also beyond 24 and 32 bits."""
    kind = [Type.i32, Type.i64][graph.generator.integers(2)]
    left, right = (ops.Convert(value, kind).output(0) for value in (a, b))
    scale = 2**20 + 1 if kind is Type.i32 else BIG
    operation = [ops.Add, ops.Subtract, ops.Multiply, ops.Maximum, ops.BitwiseAnd, ops.BitwiseXor][
        graph.generator.integers(6)
    ]
    large = ops.Multiply(operation(left, right), kind.to_dtype().type(scale))
    back = ops.FloorMod(large, kind.to_dtype().type(97))
    return ops.Convert(back, Type.f32)


def divided(graph, a, b):
    kind = [Type.i32, Type.i64][graph.generator.integers(2)]
    left, right = (ops.Convert(value, kind).output(0) for value in (a, b))
    divisor = ops.Select(ops.Equal(right, kind.to_dtype().type(0)), kind.to_dtype().type(-3), right)
    operation = [ops.Divide, ops.Mod, ops.FloorMod][graph.generator.integers(3)]
    return ops.Convert(operation(left, divisor), Type.f32)


def compared(graph, a, b):
    comparison = [ops.Less, ops.LessEqual, ops.Greater, ops.GreaterEqual, ops.Equal, ops.NotEqual]
    return ops.Select(comparison[graph.generator.integers(6)](a, b), a, b)


def with_nan(graph, a, b):
    """NaN and infinities where b is 0, found again by the classes of numbers."""
    quotient = ops.Divide(a, b)
    bounded = [ops.Relu, lambda x: ops.Clamp(x, -2, 3), ops.Abs, ops.Sign, ops.Exp, lambda x: ops.Maximum(x, b)]
    value = bounded[graph.generator.integers(len(bounded))](quotient)
    found = [ops.IsNaN, ops.IsFinite, ops.IsInf][graph.generator.integers(3)](value)
    return ops.Add(a, ops.Convert(found, Type.f32))


def reduced(graph, a, b):
    kinds = [ops.ReduceSum, ops.ReduceMax, ops.ReduceMin]
    axis, kind = int(graph.generator.integers(-1, 2)), kinds[graph.generator.integers(3)]
    if axis == 0 and kind is not ops.ReduceSum:
        axis = 1  # the largest of no rows is a matter of taste
    return ops.Add(a, kind(b, [axis], keep_dims=True))


def moved(graph, a, b):
    choice = graph.generator.integers(8)
    if choice == 0:
        return ops.Transpose(ops.Reverse(ops.Transpose(a, [1, 0]), [0], "index"), [1, 0])
    if choice == 1:
        return ops.Slice(ops.Concat([a, b], -1), [5], [-7], [-2], [1])
    if choice == 2:
        return ops.Gather(a, [-1, 0, -2], 1)
    if choice == 3:
        return ops.Squeeze(ops.Transpose(ops.Unsqueeze(a, [0]), [1, 0, 2]), [1])
    if choice == 4:
        return ops.StridedSlice(ops.Tile(a, [1, 2]), [0, 0], [0, 6], [1, 2], [1, 0], [1, 0])
    if choice == 5:
        return ops.Tile(a, [1, 1])
    if choice == 6:
        return ops.Slice(ops.Pad(a, [0, 1], [0, 2], "constant"), [1], [4], [1], [1])
    empty = ops.Slice(a, [0], [0], [1], [0])
    return ops.Concat([empty, b], 0)


def ordered(graph, a, b):
    mode = ["max", "min"][graph.generator.integers(2)]
    values, places = ops.TopK(a, np.int64(2), 1, mode, "value", "i64").outputs()
    chosen = ops.Concat([values, ops.Gather(b, [1], 1)], 1)
    return ops.Add(chosen, ops.ReduceSum(ops.Convert(places, Type.f32), [1], keep_dims=True))


def accumulated(graph, a, b):
    return ops.CumSum(a, int(graph.generator.integers(-1, 2)), reverse=bool(graph.generator.integers(2)))


def multiplied(graph, a, b):
    weights = graph.generator.integers(-3, 4, (WIDTH, WIDTH)).astype(np.float32)
    return ops.MatMul(a, ops.Constant(weights), False, bool(graph.generator.integers(2)))


def shaped(graph, a, b):
    """Numbers of rows and elements, as numbers and as shapes."""
    shape = ops.ShapeOf(a, ["i32", "i64"][graph.generator.integers(2)])
    flat = ops.Reshape(a, ops.ReduceProd(shape, [0], keep_dims=True), False)
    rows = ops.Convert(ops.Gather(shape, 0, 0), Type.f32)
    return ops.Add(ops.Reshape(flat, shape, False), ops.FloorMod(rows, np.float32(3)))


def repeated(graph, a, b):
    """A loop with two carried values that change places, 0, 1, 2 or 5 times."""
    node = ops.Loop(np.int64([0, 1, 2, 5][graph.generator.integers(4)]), np.bool_(True))
    first, second = (Parameter(Type.f32, [-1, WIDTH]) for _ in range(2))
    results = [ops.Result(second.output(0)), ops.Result(ops.Subtract(first, np.float32(1)))]
    going_on = ops.Result(ops.Constant(np.bool_(True)))
    node.set_function(Model([going_on, *results], [first, second]))
    node.set_special_body_ports([-1, 0])
    node.set_merged_input(first, a, results[0].output(0))
    node.set_merged_input(second, b, results[1].output(0))
    return node.get_iter_value(results[graph.generator.integers(2)].output(0), -1)


def branched(graph, a, b):
    node = ops.If(ops.Less(ops.ReduceSum(a, [0, 1]), np.float32(graph.generator.integers(-3, 4))))
    inner = [Parameter(Type.f32, [-1, WIDTH]) for _ in range(2)]
    results = [ops.Result(ops.Add(inner[0], np.float32(1))), ops.Result(inner[1])]
    bodies = [Model([result], [parameter]) for result, parameter in zip(results, inner)]
    node.set_then_body(bodies[0])
    node.set_else_body(bodies[1])
    node.set_input(a, inner[0], None)
    node.set_input(b, None, inner[1])
    return node.set_output(*results)


def smooth(graph, a, b, whole):
    kinds = [
        ops.Tanh, ops.Sigmoid, ops.Sin, lambda x: ops.Gelu(x, "erf"), lambda x: ops.Elu(x, 1.0), ops.SoftPlus, ops.Mish,
        lambda x: ops.Softmax(x, 1), lambda x: ops.LogSoftmax(x, 1), lambda x: ops.HardSigmoid(x, 0.2, 0.5), ops.HSwish,
    ]  # fmt: skip
    return kinds[graph.generator.integers(len(kinds))](a)


def undefined(graph, a, b, whole):
    """NaN and infinities of logarithms and quotients, at whole numbers that all devices agree on."""
    kinds = [ops.Log, ops.Sqrt, lambda x: ops.Divide(np.float32(1), x), lambda x: ops.Power(x, np.float32(0.5))]
    return ops.Add(a, kinds[graph.generator.integers(4)](whole))


def combined(graph, a, b, whole):
    operation = [ops.Add, ops.Multiply, ops.Subtract, ops.Maximum, ops.Minimum][graph.generator.integers(5)]
    return ops.Tanh(operation(a, b))


def chosen(graph, a, b, whole):
    return ops.Select(ops.Greater(whole, np.float32(0)), a, b)


WHOLE = [
    integers, integers, divided, compared, with_nan, reduced, moved, moved, moved, ordered, accumulated, multiplied,
    shaped, repeated, branched,
]  # fmt: skip
REAL = [smooth, smooth, undefined, combined, chosen]
# With the operations of the conformance table, also in bodies.
WHOLE_OF_TABLE = [*WHOLE, *[exact] * 10, quantized, in_branches, in_iterations]
REAL_OF_TABLE = [*REAL, *[rounded] * 5]
