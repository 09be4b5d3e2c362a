"""The table of compilations at the end of a test run."""

from tests.gpu.compilation import HEAD, ROW


def pytest_terminal_summary(terminalreporter):
    reports = [report for kind in ("passed", "failed") for report in terminalreporter.getreports(kind)]
    rows = {row for report in reports for name, row in getattr(report, "user_properties", ()) if name == ROW}
    if rows:
        terminalreporter.write_line("programs compiled for GPUs that are not at hand")
        terminalreporter.write_line("\n".join([*HEAD, *sorted(rows)]))
