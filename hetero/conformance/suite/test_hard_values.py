"""The operations of the table with hard values: elements, shapes and memory at which engines go wrong.

A test runs all cells of an operation and an element type; cells are made when it runs, as there are thousands of them.
"""

import pytest

from hetero import Core, Type
from hetero.conformance.hard_values import CellRunner, cells_of
from hetero.conformance.operations import OPERATIONS, OperationCase
from hetero.conformance.report import Record, record_case


@pytest.fixture(scope="module")
def core() -> Core:
    return Core()


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        pytest.param(operation, kind, id=f"{operation.name}-{kind}")
        for operation in OPERATIONS
        for kind in operation.kinds
    ],
)
def test_hard_values(
    core: Core, device: str, operation: OperationCase, kind: Type, dynamic: bool, record_property: Record
) -> None:
    runner = CellRunner(core, device, dynamic)
    errors: dict[str, Exception] = {}
    for cell in cells_of(operation, kind):
        if cell.arrays:
            supported = True
            try:
                supported = runner.run(cell)
            except Exception as error:
                errors[cell.name] = error
            works = [kind.to_string()] if supported else []
            record_case(record_property, operation.name, works, supported, passed=cell.name not in errors)
    if errors:
        text = "; ".join(f"{name}: {error}" for name, error in errors.items())
        raise ExceptionGroup(text, list(errors.values()))
