"""Tests that need the frameworks run only where these are installed: ``make test-frameworks``."""

from importlib.util import find_spec

# Each folder of tests, and the module that it needs.
_MODULES = {"paddle": "paddle", "pytorch": "torch", "tensorflow": "tensorflow"}
collect_ignore = [folder for folder, module in _MODULES.items() if find_spec(module) is None]
