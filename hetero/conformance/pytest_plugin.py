"""The pytest plugin of the kit: the option --device, fixtures, deselection by feature, time limit and summary."""

from __future__ import annotations

import functools
import signal
import sys
from collections.abc import Iterator

import pytest

from hetero import CompiledModel, Core, InferRequest
from hetero.conformance.features import FEATURES
from hetero.conformance.report import features, table
from hetero.conformance.samples import SampleModel, find_sample
from hetero.system.errors import DeviceError

# Time limit of a test in seconds; any working device needs far less.
SECONDS = 120


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hetero.conformance")
    group.addoption("--device", metavar="NAME", help="the device to test, such as CPU or CPU.1")


def pytest_sessionstart(session: pytest.Session) -> None:
    name, core = session.config.option.device, Core()
    if not name:
        raise pytest.UsageError(
            f"the option --device NAME is missing; available devices are {', '.join(core.available_devices)}"
        )
    try:
        core.resolve_device(name)
    except DeviceError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(feature): deselected for devices that report the feature as unsupported")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests of features that the device lacks; test_features.py checks that it reports them correctly."""
    has = functools.cache(lambda feature: _has(feature, config.option.device))
    needed = {item: [mark.args[0] for mark in item.iter_markers("needs")] for item in items}
    deselected = [item for item, features in needed.items() if not all(map(has, features))]
    config.hook.pytest_deselected(items=deselected)
    items[:] = [item for item in items if item not in deselected]


def _has(feature: str, device: str) -> bool:
    try:
        core = Core()
        return FEATURES[feature](core, device, find_sample(core, device))
    except Exception:  # the device reports it incorrectly, which test_features.py shows
        return True


@pytest.fixture(autouse=True)
def time_limit() -> Iterator[None]:
    """Fail a test after ``SECONDS``, so that a hanging device does not hang the kit. Needs a system with SIGALRM.

    The limit counts anew after that, as a test of several cases goes on with the next one.
    """
    if sys.platform == "win32":
        yield
        return

    def fail(signum: int, frame: object) -> None:
        raise TimeoutError(f"the test took more than {SECONDS} s; the device seems to hang")

    before = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, SECONDS, SECONDS)
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
    """The name of the device under test."""
    return pytestconfig.option.device


@pytest.fixture
def core() -> Core:
    """A new Core, so that properties set by one test do not affect another."""
    return Core()


@pytest.fixture(scope="session")
def sample(device: str) -> SampleModel:
    """An operation that the device supports, for the models of behavior tests."""
    return find_sample(Core(), device)


@pytest.fixture
def compiled(core: Core, device: str, sample: SampleModel) -> CompiledModel:
    """A compiled model of one operation, x → y."""
    return core.compile_model(sample.model(), device)


@pytest.fixture
def infer_request(compiled: CompiledModel) -> InferRequest:
    """An infer request of ``compiled``."""
    return compiled.create_infer_request()
