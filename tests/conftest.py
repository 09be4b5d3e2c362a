"""Summary at the end of a test run."""

from collections import Counter, defaultdict

# The number of files in the table of the longest ones.
LONGEST = 20


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
