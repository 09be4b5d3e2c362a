"""What is told at the end of a run."""

from collections import Counter, defaultdict


def pytest_terminal_summary(terminalreporter):
    """How many of the ONNX project's backend cases pass on each device, and what becomes of the others."""
    found = defaultdict(Counter)
    for kind in ("passed", "failed"):
        for report in terminalreporter.getreports(kind):
            told = dict(getattr(report, "user_properties", ()))
            if "ONNX backend case on" in told and report.when == "call":
                found[told["ONNX backend case on"]][told.get("ONNX backend case", "broken")] += 1
    for device, outcomes in sorted(found.items()):
        total = outcomes.total()
        terminalreporter.write_line(f"ONNX backend cases on {device}: {outcomes.pop('passes', 0)} of {total} pass")
        for reason, count in outcomes.most_common():
            terminalreporter.write_line(f"  {count:3} {reason}")
