"""docs/development/kernels.md lists what still depends on lengths: programs of one length, and texts of kernels."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hetero_opencl.compile.lower_model import lower_model
from hetero_opencl.lowering.constants import Constants
from hetero_opencl.lowering.tuning import Tuning
from hetero_opencl.plugin import OpenCLPlugin
from hetero_opencl.profiles.hardware import hardware_of
from hetero_opencl.profiles.profile import Family
from hetero_opencl.profiles.profiled_device import ProfiledDevice

from hetero.compiler.symbolic import guards_for, specialize_for_lengths
from hetero.conformance.operations import OPERATIONS
from hetero.passes import fold_weights
from hetero.system.errors import GraphError

PAGE = Path(__file__).parents[4] / "docs/development/kernels.md"
GPU = hardware_of("rx_7900").profile()
PROCESSOR = replace(
    GPU,
    family=Family.PROCESSOR,
    vector_width=16,
    vector_registers=32,
    compute_units=2,
    flops_per_second=3e11,
    bytes_per_second=4e10,
    max_work_group_size=4096,
)
PROFILES = {"GPU": GPU, "processor": PROCESSOR}
# Two lengths of one bucket, and one of another.
LENGTHS = (20, 50, 9)


def lowered(case, profile, rows):
    """Return the program of an operation, all lengths of whose inputs may differ; None if the device refuses it."""
    try:
        model = case.model(case.kinds[0], dynamic=True)
    except GraphError:  # it needs static shapes
        return None
    query = OpenCLPlugin([ProfiledDevice(profile)]).query_model(model, {})
    if query.refused:
        return None
    prepared = query.prepared.model
    fold_weights(prepared)
    shapes = [array.shape for array in case.arrays(case.kinds[0], rows)]
    guards, lengths = guards_for(prepared, shapes, int)
    constants = Constants(lambda array: SimpleNamespace(size=array.nbytes))
    special = specialize_for_lengths(prepared, lengths, {}, {})
    return lower_model(special, profile, constants, Tuning(profile.name, Path()), is_profiled=True, guards=guards)


@pytest.fixture(scope="module")
def programs():
    """Return, for each profile, the programs of the operations for ``LENGTHS``, as far as these are batched."""
    return {
        name: [
            [program for rows in (LENGTHS if case.batched else [None]) if (program := lowered(case, profile, rows))]
            for case in OPERATIONS
        ]
        for name, profile in PROFILES.items()
    }


def listed(heading):
    """Return the rows of a table of the page by what they are about: the second cell."""
    table = PAGE.read_text(encoding="utf-8").partition(f"\n| {heading} |")[2].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    assert all(reason for _, _, reason in rows)
    return {name: second for cells, second, _ in rows for name in re.findall("`(.*?)`", cells)}


def test_operations_whose_programs_are_for_one_length(programs):
    """A condition says that a length, or what is computed of it, is a certain number other than 1."""
    for of_operations in programs.values():
        found = set()
        for program in (made[0] for made in of_operations if made):
            for condition, cause in program.varying.guards.conditions.items():
                if condition.relation == "== 0" and condition.holds and cause:
                    number = dict(condition.expression.terms).get((), 0)
                    if number not in (0, -1):
                        found.add(cause.split()[0])
        assert found == {*listed("operation")}


def test_kernels_whose_texts_depend_on_a_length(programs):
    found = {}
    for profile, of_operations in programs.items():
        for made in of_operations:
            for other in made[1:]:
                for first, second in zip(made[0].launches, other.launches):
                    if first.kernel == second.kernel and first.source != second.source:
                        found.setdefault(first.kernel, set()).add(profile)
    assert found == {kernel: set(profiles.split(", ")) for kernel, profiles in listed("kernel").items()}
