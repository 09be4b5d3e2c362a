"""Tests that need the frameworks run only where these are installed: ``make test-frameworks``."""

from importlib.util import find_spec

_FOLDERS = {"torch": "pytorch", "paddle": "paddle"}
collect_ignore = [folder for framework, folder in _FOLDERS.items() if find_spec(framework) is None]
