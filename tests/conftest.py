"""What is told at the end of a run."""

BACKEND = "tests/frontend/onnx/test_backend.py::"


def pytest_terminal_summary(terminalreporter):
    """How many of the ONNX project's backend cases pass: of those listed as failing none, though their tests do."""
    counts = {
        (test, kind): sum(report.nodeid.startswith(f"{BACKEND}{test}[") for report in terminalreporter.getreports(kind))
        for test in ("test_case", "test_listed_case_still_fails")
        for kind in ("passed", "failed")
    }
    if any(counts.values()):
        passed = counts["test_case", "passed"]
        terminalreporter.write_line(f"ONNX backend cases on TEMPLATE: {passed} of {sum(counts.values())} pass")
