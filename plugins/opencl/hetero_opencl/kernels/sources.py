"""The OpenCL C texts beside this file, and how they load and store elements of each type.

Floating-point numbers of 16 bits are stored as such and computed as float: core OpenCL C converts f16, whether or not
the device computes with it (cl_khr_fp16), and bf16 is the upper half of a float.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hetero.graph import Node, Output
from hetero.types import Type


class Element(NamedTuple):
    """The C type that elements are stored as, the one that kernels compute with, and macros that convert."""

    stored: str
    value: str
    load: str = "((p)[i])"
    store: str = "((p)[i] = ({stored})(v))"
    load16: str = "vload16(0, p)"
    store16: str = "vstore16(v, 0, p)"
    prelude: str = ""


_BF16 = """\
inline ushort bf16_bits(const float x)
{
    const uint bits = as_uint(x);
    return isnan(x) ? (bits >> 16) | 64 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
inline void bf16_store16(const float16 x, global ushort *p)
{
    const uint16 bits = as_uint16(x);
    vstore16(convert_ushort16(select((bits + 0x7fff + (bits >> 16 & 1)) >> 16, bits >> 16 | 64, isnan(x))), 0, p);
}
"""

ELEMENTS = {
    Type.f32: Element("float", "float"),
    Type.f16: Element("half", "float", "vload_half(i, p)", "vstore_half_rte(v, i, p)", "vload_half16(0, p)",
                      "vstore_half16_rte(v, 0, p)"),
    Type.bf16: Element("ushort", "float", "as_float((uint)(p)[i] << 16)", "((p)[i] = bf16_bits(v))",
                       "as_float16(convert_uint16(vload16(0, p)) << 16)", "bf16_store16(v, p)", _BF16),
    Type.f64: Element("double", "double", prelude="#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"),
    **{kind: Element(name, name) for kind, name in (
        (Type.i8, "char"), (Type.u8, "uchar"), (Type.boolean, "uchar"), (Type.i16, "short"), (Type.u16, "ushort"),
        (Type.i32, "int"), (Type.u32, "uint"), (Type.i64, "long"), (Type.u64, "ulong"),
    )},
}  # fmt: skip

FLOATS = tuple(kind for kind in ELEMENTS if kind.is_real())


@functools.cache
def template(name: str) -> str:
    """The text of a .cl file of this folder."""
    return (Path(__file__).parent / f"{name}.cl").read_text(encoding="utf-8")


def unsupported_types(node: Node, values: Sequence[Output] | None = None) -> str | None:
    """Refuses elements that kernels cannot compute with, of these values or of all that the node reads and makes."""
    for value in (*node.input_values(), *node.outputs()) if values is None else values:
        if value.element_type not in ELEMENTS:
            return f"no kernel for {node.type_info.name} with elements of type {value.element_type}"
    return None


def unsupported_non_float(node: Node) -> str | None:
    """Refuses data, input 0, that are no floating-point numbers which kernels compute with."""
    kind = node.get_input_element_type(0)
    return None if kind in FLOATS else f"no kernel for {node.type_info.name} with elements of type {kind}"


def source(name: str, types: Mapping[str, Type] | None = None, **macros: object) -> str:
    """The text of a .cl file, with element types under these names (see ``element_macros``) and macros in front."""
    elements = element_macros(types or {})
    return elements + "".join(f"#define {key} {value}\n" for key, value in macros.items()) + template(name)


def element_macros(types: Mapping[str, Type], elements: Mapping[Type, Element] = ELEMENTS) -> str:
    """For each name T, the macros by which a text loads and stores elements of a type:

    ``T`` the C type in memory, ``T_VALUE`` the one to compute with, ``T_LOAD(p, i)``, ``T_STORE(v, i, p)``, and for
    sixteen neighbours ``T_VALUE16``, ``T_LOAD16(p)`` and ``T_STORE16(v, p)``.
    """
    lines = list(dict.fromkeys(elements[kind].prelude for kind in types.values()))
    for name, kind in types.items():
        element = elements[kind]
        lines += [
            f"#define {name} {element.stored}\n",
            f"#define {name}_VALUE {element.value}\n",
            f"#define {name}_LOAD(p, i) {element.load}\n",
            f"#define {name}_STORE(v, i, p) {element.store.format(stored=element.stored)}\n",
            f"#define {name}_VALUE16 {element.value}16\n",
            f"#define {name}_LOAD16(p) {element.load16}\n",
            f"#define {name}_STORE16(v, p) {element.store16}\n",
        ]
    return "".join(lines)
