"""The operations of the table with hard values: elements, shapes and memory at which engines go wrong."""

import pytest

from hetero import Core
from hetero.conformance.hard_values import Cell, cells, run_cell
from hetero.conformance.report import Record, record_case


@pytest.fixture(scope="module")
def core() -> Core:
    return Core()


@pytest.mark.parametrize("dynamic", [False, True], ids=["static", "dynamic"])
@pytest.mark.parametrize("cell", [pytest.param(cell, id=cell.name) for cell in cells() if cell.arrays])
def test_hard_value(core: Core, device: str, cell: Cell, dynamic: bool, record_property: Record) -> None:
    supported = run_cell(core, device, cell, dynamic)
    record_case(record_property, cell.operation.name, [cell.kind.to_string()] if supported else [], supported)
