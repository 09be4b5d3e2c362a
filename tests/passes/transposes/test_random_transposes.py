"""Random graphs of Transposes and other operations compute the same after sinking, and transpose no more."""

import numpy as np
import pytest

from hetero import Model, Parameter, Type, ops
from hetero.system.errors import HeteroError
from tests.passes.test_passes import run
from tests.passes.transposes.test_transpose_sinking import check

SHAPES = ((2, 3, 4, 5), (2, 4, 1, 3))
KNOWN = (SHAPES, ((-1, 3, 4, 5), (-1, -1, 1, -1)), ((-1, -1, -1, -1), (2, 4, 1, -1)))
MAX_ELEMENTS = 20000


def ints(*numbers):
    return np.array(numbers, np.int64)


def mask(generator, count):
    return [int(flag) for flag in generator.integers(0, 2, count)]


def transpose(g, x, shape, others):
    usual = len(shape) == 4 and g.random() < 0.8
    order = [(0, 2, 3, 1), (0, 3, 1, 2)][g.integers(2)] if usual else g.permutation(len(shape))
    return ops.Transpose(x, ints(*order))


def with_constant(g, x, shape, others):
    lengths = [length if g.random() < 0.6 else 1 for length in shape[g.integers(len(shape) + 1) :]]
    return ops.Add(x, g.standard_normal(lengths).astype(np.float32))


def with_another(g, x, shape, others):
    operation = (ops.Add, ops.Maximum, ops.SquaredDifference)[g.integers(3)]
    return operation(x, others[g.integers(len(others))])


def concat(g, x, shape, others):
    return ops.Concat([x, others[g.integers(len(others))]], int(g.integers(len(shape))))


def reduce(g, x, shape, others):
    axes = sorted(set(g.integers(len(shape), size=g.integers(1, 3)).tolist()))
    return (ops.ReduceMean, ops.ReduceMax)[g.integers(2)](x, ints(*axes), bool(g.integers(2)))


def squeeze(g, x, shape, others):
    return ops.Squeeze(x, ints(shape.index(1)))


def split(g, x, shape, others):
    return ops.VariadicSplit(x, np.int64(g.integers(len(shape))), ints(1, -1)).outputs()


def pad(g, x, shape, others):
    return ops.Pad(x, g.integers(0, 2, len(shape)), g.integers(0, 2, len(shape)), "constant", np.float32(1))


def slice_(g, x, shape, others):
    return ops.Slice(x, ints(0), ints(2), ints(1), ints(g.integers(len(shape))))


def strided_slice(g, x, shape, others):
    count = int(g.integers(1, len(shape) + 1))
    ends = g.integers(1, 3, count)
    begin, end, shrink = (mask(g, count) for _ in range(3))
    return ops.StridedSlice(x, 0 * ends, ends, ends // ends, begin, end, shrink_axis_mask=shrink)


def reshape(g, x, shape, others):
    lengths = [length for length in shape if length != 1]
    for _ in range(g.integers(3)):
        lengths.insert(int(g.integers(len(lengths) + 1)), 1)
    return ops.Reshape(x, ints(*lengths), False)


def reshape_by_another(g, x, shape, others):
    return ops.Reshape(x, ops.ShapeOf(transpose(g, x, shape, others)), False)


def broadcast(g, x, shape, others):
    return ops.Broadcast(ops.ReduceMax(x, ints(g.integers(len(shape))), True), ops.ShapeOf(x))


def gather(g, x, shape, others):
    return ops.Gather(x, (np.int64(0), ints(0, 0))[g.integers(2)], np.int64(g.integers(len(shape))))


STEPS = [transpose] * 9 + [with_another] * 2 + [
    with_constant, concat, reduce, squeeze, split, pad, slice_, strided_slice, reshape, reshape_by_another, broadcast,
    gather,
    lambda g, x, shape, others: ops.Relu(x),
    lambda g, x, shape, others: ops.Softmax(x, int(g.integers(len(shape)))),
    lambda g, x, shape, others: ops.Unsqueeze(x, ints(g.integers(len(shape) + 1))),
    lambda g, x, shape, others: ops.Reshape(x, ints(-1), False),
    lambda g, x, shape, others: ops.Tile(x, g.integers(1, 3, len(shape))),
    lambda g, x, shape, others: ops.Select(ops.Greater(x, np.float32(0)), x, np.float32(0.5)),
]  # fmt: skip


def random_model(seed):
    """Return a model of random operations, and inputs for it."""
    g = np.random.default_rng(seed)
    parameters = [Parameter(Type.f32, shape) for shape in KNOWN[seed % len(KNOWN)]]
    arrays = [g.standard_normal(shape).astype(np.float32) for shape in SHAPES]
    values = {parameter.output(0): shape for parameter, shape in zip(parameters, SHAPES)}
    size = g.integers(5, 40)
    while len(values) < size:
        pool = list(values)
        x = pool[-1 - min(int(g.exponential(3)), len(pool) - 1)]
        try:
            step = STEPS[g.integers(len(STEPS))](g, x, values[x], pool)
            outputs = step if isinstance(step, list) else step.outputs()
            results = run(Model(outputs, parameters), *arrays)
        except (HeteroError, ValueError):
            continue  # the shapes do not fit
        ranked = all(output.partial_shape.has_rank for output in outputs)
        if ranked and all(1 <= array.ndim <= 6 and 0 < array.size < MAX_ELEMENTS for array in results):
            values.update((output, array.shape) for output, array in zip(outputs, results))
    # Steps that were discarded are still among the readers.
    read = {target for value in values for target in value.node.inputs()}
    ends = [value for value in values if not read.intersection(value.get_target_inputs())]
    return Model([*ends, *(list(values)[i] for i in g.integers(len(values), size=2))], parameters), arrays


def transposed_bytes(model, arrays):
    results = [node.output(0) for node in model.get_ordered_ops() if isinstance(node, ops.Transpose)]
    return sum(array.nbytes for array in run(Model(results, model.parameters), *arrays))


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs(seed):
    model, arrays = random_model(seed)
    before = transposed_bytes(model, arrays)
    check(model, *arrays, rtol=1e-4, atol=1e-4)
    assert transposed_bytes(model, arrays) <= before
