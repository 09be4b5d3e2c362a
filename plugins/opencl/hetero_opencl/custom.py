"""How an operation of anybody's own runs on OpenCL devices: what its class says for them. No import is needed for it.

An element-wise one, with one output that has the shape to which its inputs broadcast, has an expression of OpenCL C::

    class CustomElu(Op):
        inputs = ("x",)
        alpha = Attribute(float)
        opencl_expression = "x > 0 ? x : alpha * (exp(x) - 1.0)"

Names are those of inputs (``input0``, ``input1`` … of a class that declares none) and of attributes that are numbers or
booleans. It computes with the type of the first input, f16 and bf16 as float, and numbers with a point are of that type
too. It runs in one kernel with the element-wise operations around it. The expression may also be a property.

Any other brings kernels, which are asked for when all shapes are known::

    def opencl_kernels(self):
        from hetero_opencl.custom import Kernel

        rows, columns = self.get_input_shape(0)
        types = {"DATA": self.get_element_type()}
        return [Kernel(SOURCE, "row_sums", [self.input(0), self.output(0), columns], [rows], types=types)]

A class with either may have ``opencl_unsupported_reason(self)``, which gives a reason where a node cannot run so, else None;
shapes may be partly unknown then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hetero.types import Type


@dataclass(frozen=True, eq=False)
class Scratch:
    """Memory for what one kernel of an operation hands to the next: given as an argument of each."""

    count: int
    element_type: Type = Type.f32


@dataclass(frozen=True)
class Kernel:
    """One kernel of an operation, of those that run one after the other.

    ``source``: OpenCL C; ``name``: the kernel in it. Each of its ``arguments`` is an input or an output of the node, a
    Scratch or an array, for a pointer; or a number: a whole one is an int, one with a fraction a float, a numpy scalar
    what it says. There are ``global_size`` work-items along each dimension, in groups of ``local_size``.

    ``types`` gives element types names, for each of which T the source has macros: ``T`` is the type in memory,
    ``T_VALUE`` the one to compute with, and ``T_LOAD(p, i)`` and ``T_STORE(value, i, p)`` get to elements; f16 and bf16
    are computed as float, so that one source is for them and for f32.
    """

    source: str
    name: str
    arguments: Sequence[Any]
    global_size: Sequence[int]
    local_size: Sequence[int] | None = None
    types: Mapping[str, Type] = field(default_factory=dict)
