"""The tests of each tier, and the summary at the end of a test run."""

from collections import Counter, defaultdict

from hypothesis import HealthCheck, settings

from tests.devices import GPUS
from tests.tiers import IS_QUICK, in_sample

# A busy machine takes longer for an example, or to make one, than hypothesis accepts.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")

# The number of files in the table of the longest ones.
LONGEST = 20
# Of the tests on further OpenCL devices, whose kernels take long to build, one of this number runs.
FURTHER_DEVICES = 12


def pytest_collection_modifyitems(config, items):
    """Select the tests of the tier, also those of plugins.

    Tests marked own_sample select a sample of their own.
    """
    selected = [item for item in items if item.get_closest_marker("own_sample") or _is_selected(item)]
    if IS_QUICK:
        cases = {}
        for item in selected:
            if not item.get_closest_marker("subprocess"):
                is_own = item.get_closest_marker("every_case") and item.callspec.params["device"] == "TEMPLATE"
                case = item.name if is_own else item.originalname
                cases.setdefault((item.parent.nodeid, case), item)
        selected = list(cases.values())
    config.hook.pytest_deselected(items=list(set(items).difference(selected)))
    items[:] = selected


def _is_selected(item):
    is_further = hasattr(item, "callspec") and item.callspec.params.get("device") in GPUS[1:]
    return not is_further or (not IS_QUICK and in_sample(item.nodeid, FURTHER_DEVICES))


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
