"""Operations that the host runs between programs: control flow, sequences and copies, but no arithmetic."""
# ruff: noqa: F401 - importing a module registers its functions

from hetero_opencl.execute.host_steps import loops, sequences
from hetero_opencl.execute.host_steps.step import HostStep
