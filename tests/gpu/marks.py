"""Marks of tests that need the tools for GPUs that are not at hand."""

import os

import pytest

# `make test` runs without the tools, which are 1.1 GB of packages of Debian. `make gpu-check` fetches them and sets the
# variable, so that nothing is skipped there.
needs_tools = pytest.mark.skipif("HETERO_GPU_TOOLS" not in os.environ, reason="`make gpu-check` runs it")
