"""Kernels for user-defined operations. The operation's class supplies them; nothing has to be registered.

An element-wise operation gives an OpenCL C expression. It has one output, of the shape to which its inputs broadcast::

    class CustomElu(Op):
        input_names = ("x",)
        alpha = Attribute(float)
        opencl_expression = "x > 0 ? x : alpha * (exp(x) - 1.0)"

The expression may use the names of the inputs (``input0``, ``input1`` … if the class declares none) and of the
attributes that are numbers or booleans. It is computed in the type of the first input (f16 and bf16 as float), and so
are literals with a decimal point. It is fused with neighboring element-wise operations. ``opencl_expression`` may also
be a property.

Any other operation returns kernels. The method is called when all shapes are known::

    def opencl_kernels(self):
        from hetero_opencl.lowering.custom import Kernel

        rows, columns = self.get_input_shape(0)
        types = {"DATA": self.get_element_type()}
        return [Kernel(SOURCE, "row_sums", [self.input(0), self.output(0), columns], [rows], types=types)]

In both cases the class may define ``opencl_unsupported_reason(self)``, which returns the reason why a node cannot run,
or None. Shapes may be partly unknown when it is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from hetero.core.types import Type
from hetero.graph import Node, Op


@dataclass(frozen=True, eq=False)
class Scratch:
    """Temporary buffer that several kernels of one operation share: pass the same object as an argument of each."""

    count: int
    element_type: Type = Type.f32


@dataclass(frozen=True)
class Kernel:
    """One kernel launch of an operation. The kernels of an operation run in order.

    ``source`` is OpenCL C and ``name`` the kernel in it. ``arguments`` are inputs and outputs of the node, Scratch
    objects or arrays for pointers, and numbers: a Python int is passed as int, a float as float, a numpy scalar in its
    own type. ``global_size`` is the number of work-items in each dimension, ``local_size`` that of a work-group.

    ``types`` maps names to element types. For each name T the source may use the macros ``T`` (the type in memory),
    ``T_VALUE`` (the type to compute with), ``T_LOAD(p, i)`` and ``T_STORE(value, i, p)``. f16 and bf16 are computed as
    float, so that one source serves them and f32.
    """

    source: str
    name: str
    arguments: Sequence[Any]
    global_size: Sequence[int]
    local_size: Sequence[int] | None = None
    types: Mapping[str, Type] = field(default_factory=dict)


def has_custom_expression(node: Node) -> TypeGuard[Op]:
    """Return whether the node's class defines ``opencl_expression``."""
    return getattr(type(node), "opencl_expression", None) is not None


def has_custom_kernels(node: Node) -> TypeGuard[Op]:
    """Return whether the node's class defines ``opencl_kernels``."""
    return getattr(type(node), "opencl_kernels", None) is not None
