"""Models specialized for Lengths, against the inference of static shapes at other sizes."""

import pytest

from hetero.compiler.shape_class import ShapeClass
from hetero.compiler.symbolic import guards_for, specialize_for_lengths
from hetero.conformance.operations import OPERATIONS
from hetero.core.lengths.length import Length
from hetero.system.errors import GraphError

SIZES = (3, 5, 9, 14, 40)
# Their output shapes have another form for each size, so that a program serves one.
OF_ONE_SIZE: set[str] = set()


def cases():
    for index, operation in enumerate(OPERATIONS):
        try:
            model = operation.model(operation.kinds[0], dynamic=True)
        except GraphError:  # it needs static shapes
            continue
        yield pytest.param(operation, model, id=f"{index}-{operation.name}")


@pytest.mark.parametrize(("operation", "model"), list(cases()))
def test_inference_with_lengths(operation, model):
    """Output shapes with Lengths, evaluated for other sizes that the guards admit, are those of static inference."""
    shapes = [tuple(array.shape) for array in operation.arrays(operation.kinds[0], 5 if operation.batched else None)]
    guards, lengths = guards_for(model, shapes, int)
    special = specialize_for_lengths(model, lengths, {}, {})
    known = ShapeClass(guards, lengths)
    served = 0
    for size in SIZES if operation.batched else [None]:
        arrays = operation.arrays(operation.kinds[0], size)
        found = known.lengths_of([array.shape for array in arrays])
        if found is None:
            continue
        served += 1
        model.reshape({index: array.shape for index, array in enumerate(arrays)})
        values = dict(zip(guards.hints, found))
        for result, wanted in zip(special.results, model.outputs, strict=True):
            shape = [
                length.expression.evaluate(values) if isinstance(length, Length) else length
                for length in result.output(0).partial_shape.to_shape()
            ]
            assert shape == list(wanted.shape)
    assert served >= (len(SIZES) if operation.batched and operation.name not in OF_ONE_SIZE else 1)
