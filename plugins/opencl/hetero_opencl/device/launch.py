"""Kernel launches, and the device memory that they use."""

from __future__ import annotations

import math
import re
import sys
from concurrent.futures import Future
from dataclasses import dataclass, replace

import numpy as np
import pyopencl as cl

from hetero.core.lengths.length import AnyLength

# Bytes that every buffer has past its end, because kernels may read a whole vector where only some elements are left.
SLACK = 256

# The head of a kernel; one pattern for all names, as compiling one takes a millisecond.
_HEAD = re.compile(r"kernel\s+void\s+(\w+)\(")


@dataclass(eq=False)
class Buffer:
    """A value or scratch memory on the device. A constant has ``memory``; other buffers are placed by a plan."""

    byte_size: int
    upload: Future[cl.Buffer] | None = None
    source: np.ndarray | None = None  # the array that a constant was made from
    whole: Buffer | None = None  # the buffer that this one is a part of, which is not a part itself
    offset: int = 0  # in bytes, in that buffer
    is_zero: bool = False  # between launches: the counters of merged launches, which all use the same memory
    words: tuple[AnyLength, ...] = ()  # numbers in i32 that the host writes, as some of them are Lengths

    @property
    def is_planned(self) -> bool:
        return self.upload is None

    @property
    def memory(self) -> cl.Buffer | None:
        """The memory of a constant, once it is uploaded. Raises DeviceError if it was not."""
        return None if self.upload is None else self.upload.result()

    @property
    def has_failed(self) -> bool:
        """Whether the upload of a constant has ended with an error."""
        return self.upload is not None and self.upload.done() and self.upload.exception() is not None


@dataclass(frozen=True)
class Launch:
    """A kernel launch: the source text, the name of the kernel in it, its arguments in order, and its work sizes.

    While a program is made, arguments and sizes may be Lengths too. ``origin`` is a suffix for messages that says where
    a user-defined kernel comes from, empty for kernels of hetero. ``parts`` are the launches that this one was merged
    from. ``seconds`` is the estimated time of the operation.
    """

    source: str
    kernel: str
    arguments: tuple[Buffer | np.generic, ...]
    global_size: tuple[int, ...]
    local_size: tuple[int, ...] | None
    node_name: str
    node_type: str
    origin: str = ""
    parts: tuple[Launch, ...] = ()
    seconds: float = 0.0

    def __post_init__(self) -> None:
        # Programs for other shapes have mostly the same texts, of 10 kB each.
        object.__setattr__(self, "source", sys.intern(self.source))

    @property
    def operation(self) -> str:
        """The operation, or the first and the last one, as messages name it."""
        if self.parts and self.parts[0].operation != self.parts[-1].operation:
            return f"{self.parts[0].operation} to {self.parts[-1].operation}"
        return f"{self.node_type} '{self.node_name}'{self.origin}"

    def with_declared_size(self) -> Launch:
        """Return the launch with a source that declares the work-group size: drivers compile it faster, and better.

        Kernels whose work-groups are one work-item compute in vectors themselves, which a hint says: Intel's compiler
        takes four times as long if it tries to find more of them.
        """
        if self.local_size is None:
            return self
        sizes = ", ".join(map(str, (*self.local_size, 1, 1)[:3]))
        attributes = f"__attribute__((reqd_work_group_size({sizes})))"
        if math.prod(self.local_size) == 1:
            attributes += " __attribute__((vec_type_hint(float16)))"
        head = f"kernel {attributes} void {self.kernel}("
        return replace(self, source=_HEAD.sub(lambda found: head if found[1] == self.kernel else found[0], self.source))

    def buffers(self) -> list[Buffer]:
        return [argument for argument in self.arguments if isinstance(argument, Buffer)]

    def described_arguments(self) -> list[int | tuple[str, str]]:
        """Describe the arguments for a build process: the byte size of a buffer, the type and hex bytes of a number."""
        return [
            argument.byte_size + SLACK
            if isinstance(argument, Buffer)
            else (argument.dtype.str, argument.tobytes().hex())
            for argument in self.arguments
        ]
