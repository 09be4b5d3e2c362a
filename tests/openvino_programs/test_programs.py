"""Programs for OpenVINO run with hetero and give the same.

Each function ``program_…(ov)`` of the other modules in this folder is called with both packages. What it returns is
compared: arrays by their numbers, exceptions by their type, everything else must be equal.
"""

import logging
import pkgutil
from importlib import import_module
from pathlib import Path

import numpy as np
import openvino
import pytest

import hetero

MODULES = [m.name for m in pkgutil.iter_modules([str(Path(__file__).parent)]) if not m.name.startswith(("test_", "_"))]
PROGRAMS = [
    pytest.param(program, id=f"{module}-{name.removeprefix('program_')}")
    for module in MODULES
    for name, program in vars(import_module(f"tests.openvino_programs.{module}")).items()
    if name.startswith("program_")
]


@pytest.fixture
def log_levels():
    """Set the loggers of the devices back to their levels, which programs change by LOG_LEVEL."""
    devices = {name.split(".")[0] for name in hetero.Core().host.available_devices}
    loggers = [logging.getLogger(f"hetero.{device}") for device in ("AUTO", *devices)]
    levels = [logger.level for logger in loggers]
    yield
    for logger, level in zip(loggers, levels):
        logger.setLevel(level)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.usefixtures("log_levels")
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program):
    assert_same(program(hetero), program(openvino))


def assert_same(mine, theirs, where="result"):
    if isinstance(theirs, np.ndarray):
        assert (mine.shape, mine.dtype) == (theirs.shape, theirs.dtype), where
        if theirs.dtype.kind in "SU":
            assert (mine == theirs).all(), where
            return
        # Weighted sums of bytes that end in a half may be rounded up or down.
        is_bytes = theirs.dtype == np.uint8
        assert not is_bytes or (mine != theirs).mean() < 0.05, where
        np.testing.assert_allclose(
            mine.astype(float), theirs.astype(float), 1e-4, 1 if is_bytes else 1e-4, err_msg=where
        )
    elif isinstance(theirs, Exception):
        assert isinstance(mine, type(theirs)), f"{where}: {mine!r}, not {theirs!r}"
    elif isinstance(theirs, (list, tuple)):
        assert len(mine) == len(theirs), where
        for index, pair in enumerate(zip(mine, theirs)):
            assert_same(*pair, f"{where}[{index}]")
    elif isinstance(theirs, dict):
        assert mine.keys() == theirs.keys(), where
        for key in theirs:
            assert_same(mine[key], theirs[key], f"{where}[{key!r}]")
    else:
        assert mine == theirs, where
