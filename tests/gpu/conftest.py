"""What was found out about GPUs that are not at hand, at the end of a test run."""

from tests.gpu import plugin_tests
from tests.gpu.compilation import HEAD, ROW


def pytest_terminal_summary(terminalreporter):
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind)]
    properties = [pair for report in reports for pair in getattr(report, "user_properties", ())]
    rows = {value for name, value in properties if name == ROW}
    if rows:
        terminalreporter.write_line("programs compiled for GPUs that are not at hand")
        terminalreporter.write_line("\n".join([*HEAD, *sorted(rows)]))
    for line in dict.fromkeys(value for name, value in properties if name == plugin_tests.ROW):
        terminalreporter.write_line(line)
