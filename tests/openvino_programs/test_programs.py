"""Programs of OpenVINO's users, run with ``import openvino as ov`` and with ``import hetero as ov``.

Each module of this folder has functions ``program_…(ov)``, which return values that must be equal: numbers, strings,
arrays, and lists and dictionaries of these. ``kind_of_error`` in a program stands for the exceptions that it expects.
"""

import importlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import openvino
import pytest

import hetero

MODULES = [
    importlib.import_module(f"{__package__}.{path.stem}")
    for path in sorted(Path(__file__).parent.glob("*.py"))
    if not path.stem.startswith(("test_", "_"))
]
PROGRAMS = [
    pytest.param(program, id=f"{module.__name__.rpartition('.')[2]}.{name.removeprefix('program_')}")
    for module in MODULES
    for name, program in vars(module).items()
    if name.startswith("program_")
]


def assert_equal(found, expected, where=""):
    if isinstance(expected, Mapping):
        assert dict.keys(dict(found)) == dict.keys(dict(expected)), where
        for key, value in expected.items():
            assert_equal(found[key], value, f"{where}[{key!r}]")
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype, where
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6) if expected.dtype.kind in "fc" else (
            np.testing.assert_array_equal(found, expected)
        )
    elif isinstance(expected, (list, tuple)):
        assert len(found) == len(expected), where
        for index, (one, other) in enumerate(zip(found, expected)):
            assert_equal(one, other, f"{where}[{index}]")
    else:
        assert found == expected, where


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program):
    assert_equal(program(hetero), program(openvino))
