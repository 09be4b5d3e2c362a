"""Tests that need the frameworks run only where these are installed: ``make test-frameworks``."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["pytorch"]
