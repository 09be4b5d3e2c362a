"""What a plugin that makes programs of its own builds on."""

from hetero.compiler.length_function import length_function
from hetero.compiler.program_cache import MAX_PROGRAMS, ProgramCache, constants_budget
from hetero.compiler.symbolic import KnownLengths, give_lengths
from hetero.system.garbage_collection import rarer_collections

__all__ = [
    "MAX_PROGRAMS", "KnownLengths", "ProgramCache", "constants_budget", "give_lengths", "length_function",
    "rarer_collections",
]  # fmt: skip
