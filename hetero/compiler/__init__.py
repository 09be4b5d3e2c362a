"""What a plugin that makes programs of its own builds on."""

from hetero.compiler.program_cache import MAX_PROGRAMS, ProgramCache

__all__ = ["MAX_PROGRAMS", "ProgramCache"]
