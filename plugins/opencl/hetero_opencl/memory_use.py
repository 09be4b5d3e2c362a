"""Properties that report how much device memory is used."""

from __future__ import annotations

from collections.abc import Sequence

from hetero.properties import Mutability, Property
from hetero_opencl.program import Program

#: Memory of a compiled model in bytes, for the programs it used last: ``weights``, the buffers of all constants, in the
#: layouts of the kernels; ``arena``, the memory that each request allocates for all other values; and
#: ``largest_live_set``, the most of the arena that is needed at the same time.
model_memory = Property("GPU_MODEL_MEMORY", dict, {}, Mutability.RO)


def memory_of(programs: Sequence[Program]) -> dict[str, int]:
    """Return the value of ``model_memory`` for programs that run one after another in one arena."""
    constants = dict.fromkeys(buffer for program in programs for buffer in program.constants())
    plans = [program.memory_plan() for program in programs]
    return {
        "weights": sum(buffer.memory.size for buffer in constants if buffer.memory),
        "arena": max((plan.byte_size for plan in plans), default=0),
        "largest_live_set": max((plan.largest_live_set for plan in plans), default=0),
    }
