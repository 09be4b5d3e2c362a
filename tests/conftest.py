"""The tests of each tier, the stack for signals, and the summary at the end of a test run."""

import ctypes
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, settings

from tests.devices import GPUS
from tests.tiers import IS_QUICK, in_sample

# A busy machine takes longer for an example, or to make one, than hypothesis accepts.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# The number of files in the table of the longest ones.
LONGEST = 20


class Sample(NamedTuple):
    """Of a test with at least ``many`` cases on one device, one of ``one_in`` cases runs there."""

    many: int
    one_in: int


ROOT = Path(__file__).parents[1]
# The tests of operations and translators, which have thousands of cases on the reference.
OF_OPERATIONS = [ROOT / folder for folder in ("tests/ops", "tests/frontend", "plugins/opencl/tests/kernels")]
ON_REFERENCE, ON_OTHER_DEVICES = Sample(12, 3), Sample(4, 8)
# OpenCL devices but the first one: kernels take long to build.
ON_FURTHER_DEVICES = Sample(1, 24)


class OrdinaryStack:
    """Lets signals be handled on the ordinary stack in each test.

    On processors with AMX, a core of openvino gives its thread a stack for signals and takes it back at its own end, in
    tests that use several a wrong one. Then the next signal, also one that Python handles, would end the process.
    """

    class Stack(ctypes.Structure):
        """stack_t of sigaltstack(2)"""

        _fields_ = (("start", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t))

    _DISABLED = 2  # SS_DISABLE

    def pytest_runtest_call(self):
        if sys.platform == "linux":
            assert ctypes.CDLL(None).sigaltstack(ctypes.byref(self.Stack(None, self._DISABLED, 0)), None) == 0


def pytest_configure(config):
    config.pluginmanager.register(OrdinaryStack())  # for the tests of all folders, unlike hooks of this file


def pytest_collection_modifyitems(config, items):
    """Select the tests of the tier, also those of plugins.

    Tests marked own_sample select a sample of their own; those marked every_case have all their cases on TEMPLATE.
    """
    selected = _quick_tests(items) if IS_QUICK else _sampled_tests(items)
    config.hook.pytest_deselected(items=list(set(items).difference(selected)))
    items[:] = selected


def _quick_tests(items):
    """Return a case of each test, on the first device of a kind, and each case of those marked every_case."""
    cases = {}
    for item in items:
        if _device_of(item) not in GPUS[1:] and not item.get_closest_marker("slow"):
            case = item.name if _is_own_case(item) else item.originalname
            cases.setdefault((item.parent.nodeid, case), item)
    return list(cases.values())


def _sampled_tests(items):
    counts = Counter(map(_test_on_device, items))
    return [item for item in items if _is_sampled(item, counts[_test_on_device(item)])]


def _is_sampled(item, cases):
    """Return whether a test runs. ``cases``: the number of cases that its function has on its device."""
    device = _device_of(item)
    sample = ON_OTHER_DEVICES
    if device in GPUS[1:]:
        sample = ON_FURTHER_DEVICES
    elif device in (None, "TEMPLATE"):
        sample = ON_REFERENCE if any(folder in item.path.parents for folder in OF_OPERATIONS) else None
    if item.get_closest_marker("own_sample") or _is_own_case(item) or not sample or cases < sample.many:
        return True
    return in_sample(item.nodeid, sample.one_in)


def _is_own_case(item):
    """Return whether each case is of another operator, on the reference."""
    return item.get_closest_marker("every_case") and _device_of(item) == "TEMPLATE"


def _test_on_device(item):
    """Return what the cases of a test on one device have in common."""
    return item.parent.nodeid, item.originalname, _device_of(item)


def _device_of(item):
    return item.callspec.params.get("device") if hasattr(item, "callspec") else None


def pytest_terminal_summary(terminalreporter):
    _write_backend_cases(terminalreporter)
    _write_longest_files(terminalreporter)


def _write_longest_files(terminalreporter):
    """Write the seconds of the test files that took longest, if there were more files than the table lists."""
    seconds = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if hasattr(report, "duration"):
                seconds[report.nodeid.partition("::")[0]] += report.duration
    if len(seconds) > LONGEST:
        terminalreporter.write_line(
            f"seconds of the {LONGEST} files that took longest, of {seconds.total():.0f} in all"
        )
        for file, duration in seconds.most_common(LONGEST):
            terminalreporter.write_line(f"{duration:7.1f} {file}")


def _write_backend_cases(terminalreporter):
    """Write how many of the ONNX project's backend cases pass on each device, and why the others do not."""
    outcomes_on = defaultdict(Counter)
    for kind in ("passed", "failed"):
        for report in terminalreporter.getreports(kind):
            properties = dict(getattr(report, "user_properties", ()))
            if "ONNX backend case on" in properties and report.when == "call":
                outcomes_on[properties["ONNX backend case on"]][properties.get("ONNX backend case", "broken")] += 1
    for device, outcomes in sorted(outcomes_on.items()):
        total = outcomes.total()
        terminalreporter.write_line(f"ONNX backend cases on {device}: {outcomes.pop('passes', 0)} of {total} pass")
        for reason, count in outcomes.most_common():
            terminalreporter.write_line(f"  {count:3} {reason}")
