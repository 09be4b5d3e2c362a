"""What is told at the end of a run."""

BACKEND = "tests/frontend/onnx/test_backend.py::test_case["


def pytest_terminal_summary(terminalreporter):
    """How many of the ONNX project's backend cases pass."""
    passed, failed = (
        sum(report.nodeid.startswith(BACKEND) for kind in kinds for report in terminalreporter.getreports(kind))
        for kinds in (("passed",), ("failed", "xfailed"))
    )
    if passed:
        terminalreporter.write_line(f"ONNX backend cases on TEMPLATE: {passed} of {passed + failed} pass")
