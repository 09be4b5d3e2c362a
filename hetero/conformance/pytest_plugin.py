"""What pytest is told of the kit: its option and what its tests are given."""

from __future__ import annotations

import functools
import signal
from collections.abc import Iterator

import pytest

from hetero import Core
from hetero.conformance.features import FEATURES
from hetero.conformance.report import features, table
from hetero.conformance.samples import Sample, find_sample
from hetero.errors import DeviceError

# How long a test may take; any device ends it far sooner.
SECONDS = 120


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hetero.conformance")
    group.addoption("--device", metavar="NAME", help="the device to test, such as CPU or CPU.1")


def pytest_sessionstart(session: pytest.Session) -> None:
    name, core = session.config.option.device, Core()
    if not name:
        raise pytest.UsageError(f"name the device to test by --device: there are {', '.join(core.available_devices)}")
    try:
        core.resolve_device(name)
    except DeviceError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(feature): not for devices that say that they have no such feature")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests of features that the device says it has not; test_features.py looks at how it says so."""
    has = functools.cache(lambda feature: _has(feature, config.option.device))
    needed = {item: [mark.args[0] for mark in item.iter_markers("needs")] for item in items}
    lacking = [item for item, features in needed.items() if not all(map(has, features))]
    config.hook.pytest_deselected(items=lacking)
    items[:] = [item for item in items if item not in lacking]


def _has(feature: str, device: str) -> bool:
    try:
        core = Core()
        return FEATURES[feature](core, device, find_sample(core, device))
    except Exception:  # of a device that says so wrongly: the tests tell
        return True


@pytest.fixture(autouse=True)
def time_limit() -> Iterator[None]:
    """Lets a test fail that takes too long, where the system has alarms: a device that hangs does not hang the kit."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def fail(signum: int, frame: object) -> None:
        raise TimeoutError(f"this takes more than {SECONDS} s: the device seems to hang")

    before = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    lines = [*features(reports), *table(reports)]
    if lines:
        terminalreporter.section(f"what {terminalreporter.config.option.device} supports")
        for line in lines:
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def device(pytestconfig: pytest.Config) -> str:
    """The name of the device that is tested."""
    return pytestconfig.option.device


@pytest.fixture
def core() -> Core:
    """A Core of the test's own, so that no property that it sets reaches another test."""
    return Core()


@pytest.fixture(scope="session")
def sample(device: str) -> Sample:
    """A small operation that the device runs, of which the models of behaviour tests are made."""
    return find_sample(Core(), device)
