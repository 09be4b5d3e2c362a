"""The table in docs/openvino_programs.md has the programs of tests/programs, which `make test-programs` runs."""

import numpy as np
import pytest

from tests.programs import catalog
from tests.programs.__main__ import difference


def test_table_lists_the_programs():
    listed = [(row.package, row.job, len(row.results)) for row in catalog.documented_rows()]
    assert listed == [(program.package, program.job, len(catalog.DEVICES)) for program in catalog.programs()]


def test_programs_are_of_packages_that_their_group_requires():
    for program in catalog.programs():
        required = (program.path.parent / "requirements.txt").read_text().splitlines()
        assert program.package in [line.partition("[")[0] for line in required], program.path


@pytest.mark.parametrize(
    "found, why",
    [
        ({"x": np.float32([1, 100.05]), "t": np.array("a")}, ""),
        ({"x": np.float32([1, 100.2]), "t": np.array("a")}, "x: differs by 2.0e-03 of its largest"),
        ({"x": np.float32([1, np.nan]), "t": np.array("a")}, "x: differs by nan of its largest"),
        ({"x": np.float32([[1, 100]]), "t": np.array("a")}, "x: float32[1, 2], not float32[2]"),
        ({"x": np.float32([1, 100]), "t": np.array("b")}, "t: other values"),
        ({"t": np.array("a")}, "results ['t'], not ['t', 'x']"),
    ],
)
def test_results_that_differ(found, why):
    expected = {"x": np.float32([1, 100]), "t": np.array("a")}
    assert difference(expected, found) == why


def test_a_program_can_allow_larger_differences():
    expected = {"x": np.float32([1, 100]), "tolerance": np.array(0.02)}
    assert difference(expected, expected | {"x": np.float32([1, 101])}) == ""
    assert difference(expected, expected | {"x": np.float32([1, 103])}) != ""
