"""Models specialized for Lengths, against the inference of static shapes at other sizes."""

import numpy as np
import pytest

from hetero import Model, Parameter, Type, ops
from hetero.compiler.shape_class import ShapeClass
from hetero.compiler.symbolic import guards_for, likely_shapes, prompt_shapes, specialize_for_lengths
from hetero.conformance.operations import OPERATIONS
from hetero.core.lengths.length import Length

SIZES = (3, 5, 9, 14, 40)
# Broadcast of the table is given its shape as numbers.
CASES = [operation for operation in OPERATIONS if operation.name != "Broadcast"]


def shapes_of(operation, size):
    """Return the shapes of the inputs of a case with ``size`` as the first length, of all inputs if these are items."""
    first, *others = operation.shapes
    return [(size, *first[1:]), *((size, *shape[1:]) if operation.batched else shape for shape in others)]


@pytest.mark.parametrize("operation", CASES, ids=lambda operation: operation.name)
def test_inference_with_lengths(operation):
    """Output shapes with Lengths, evaluated for other sizes, are those of static inference."""
    model = operation.model(operation.kinds[0], dynamic=True)
    guards, lengths = guards_for(model, shapes_of(operation, 5), int)
    special = specialize_for_lengths(model, lengths, {}, {})
    known = ShapeClass(guards, lengths)
    for size in SIZES:
        shapes = shapes_of(operation, size)
        found = known.lengths_of(shapes)
        assert found is not None, f"the class of {shapes_of(operation, 5)} does not serve {shapes}"
        model.reshape(dict(enumerate(shapes)))
        values = dict(zip(guards.hints, found))
        for result, wanted in zip(special.results, model.outputs, strict=True):
            shape = [
                length.expression.evaluate(values) if isinstance(length, Length) else length
                for length in result.output(0).partial_shape.to_shape()
            ]
            assert shape == list(wanted.shape)


def test_likely_shapes_of_pictures_have_few_channels():
    x = Parameter(Type.f32, [-1, -1, -1, -1])
    assert likely_shapes(Model([ops.Relu(x)], [x])) == [(1, 3, 512, 512)]


def test_a_decoder_begins_with_empty_caches_and_goes_on_word_by_word():
    ids, cache = Parameter(Type.i64, [-1, -1], name="ids"), Parameter(Type.f32, [-1, 8, -1, 64], name="past")
    new = ops.Reshape(ops.Gather(np.ones((9, 512), np.float32), ids, np.int64(0)), np.array([0, 8, -1, 64]), True)
    model = Model([ops.Concat([cache, new], 2)], [ids, cache])
    assert prompt_shapes(model) == [(1, 128), (1, 8, 0, 64)]
    assert likely_shapes(model) == [(1, 1), (1, 8, 128, 64)]
    alone = Parameter(Type.f32, [-1, 8])
    assert prompt_shapes(Model([ops.Relu(alone)], [alone])) == []
