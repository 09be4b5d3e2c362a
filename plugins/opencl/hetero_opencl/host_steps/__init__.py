"""What the host runs between the programs of a model: it copies and decides, but computes nothing itself."""
# ruff: noqa: F401 - importing a family registers its functions

from hetero_opencl.host_steps import loops, sequences
from hetero_opencl.host_steps.step import HostStep
