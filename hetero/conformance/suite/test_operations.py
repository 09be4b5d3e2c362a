"""Common operations with every element type, dynamic shapes and empty tensors, against numpy formulas."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hetero import Core, Model, Type
from hetero.conformance.operations import OPERATIONS, OperationCase
from hetero.conformance.report import Record, record_case
from hetero.conformance.samples import assert_close, check_refusal, supports
from hetero.system.errors import GraphError


@pytest.fixture(scope="module")
def core() -> Core:
    return Core()


def cases() -> Iterator[Any]:
    """Yield each operation with each element type that it is defined for."""
    for index, operation in enumerate(OPERATIONS):
        for kind in operation.kinds:
            try:
                operation.model(kind)
            except GraphError:
                continue
            yield pytest.param(operation, kind, id=f"{index}-{operation.name}-{kind}")


def first_supported(core: Core, device: str, operation: OperationCase, dynamic: bool) -> tuple[Type, Model]:
    """Return the first element type that the device supports, else the first one at all, with its model."""
    models = [(kind, operation.model(kind, dynamic)) for kind in operation.kinds]
    return next((pair for pair in models if supports(core, pair[1], device)), models[0])


def check(
    core: Core,
    device: str,
    record: Record,
    operation: OperationCase,
    works: str,
    model: Model,
    *inputs: list[np.ndarray],
) -> None:
    """Check the results for all inputs if the device supports the model, else its refusal; record the case.

    Outputs of static shapes hold other values before, so that the device has to write all elements.
    """
    supported = supports(core, model, device)
    record_case(record, operation.name, [works], supported)
    if not supported:
        return check_refusal(core, model, device)
    compiled = core.compile_model(model, device)
    for arrays in inputs:
        request, wanted = compiled.create_infer_request(), operation.expected(arrays)
        for port, expected in zip(compiled.outputs, wanted):
            if port.partial_shape.is_static:
                request.get_tensor(port).copy_from(other_values(expected))
        for actual, expected in zip(request.infer(arrays).to_tuple(), wanted, strict=True):
            assert_close(actual, expected)


def other_values(array: np.ndarray) -> np.ndarray:
    """Return an array of the same type in which each element differs."""
    return ~array if array.dtype.kind == "b" else ((array == 1) + 1).astype(array.dtype)


@pytest.mark.parametrize(("operation", "kind"), list(cases()))
def test_element_type(core: Core, device: str, operation: OperationCase, kind: Type, record_property: Record) -> None:
    check(core, device, record_property, operation, kind.to_string(), operation.model(kind), operation.arrays(kind))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda o: o.name)
def test_dynamic_shapes(core: Core, device: str, operation: OperationCase, record_property: Record) -> None:
    """All dimensions are dynamic; inferences have two different numbers of rows."""
    kind, model = first_supported(core, device, operation, dynamic=True)
    inputs = [operation.arrays(kind, rows) for rows in ((None, 4) if operation.batched else (None,))]
    check(core, device, record_property, operation, "dynamic", model, *inputs)


@pytest.mark.parametrize("operation", [o for o in OPERATIONS if o.batched], ids=lambda o: o.name)
def test_empty_tensors(core: Core, device: str, operation: OperationCase, record_property: Record) -> None:
    """Inputs with 0 rows."""
    empty = operation._replace(shapes=tuple((0, *shape[1:]) for shape in operation.shapes))
    kind, model = first_supported(core, device, empty, dynamic=False)
    check(core, device, record_property, operation, "empty", model, empty.arrays(kind))
