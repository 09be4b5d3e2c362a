"""OpenCL C sources of the kernels, and the macros with which they load and store elements of each type.

f16 and bf16 are stored in 16 bits and computed as float. Core OpenCL C converts f16 even on devices without
cl_khr_fp16; bf16 is the upper half of a float.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hetero.core.types import Type
from hetero.graph import Node, Output


class Element(NamedTuple):
    """C type of stored elements, C type to compute with, and the expressions that convert between them."""

    stored: str
    value: str
    load: str = "((p)[i])"
    store: str = "((p)[i] = ({stored})(v))"
    load_vector: str = "vload{n}(0, p)"
    store_vector: str = "vstore{n}(v, 0, p)"
    prelude: str = ""


_BF16 = """\
inline ushort bf16_bits(const float x)
{
    const uint bits = as_uint(x);
    return isnan(x) ? (bits >> 16) | 64 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
"""
_BF16_VECTOR = """\
inline void bf16_store{n}(const float{n} x, global ushort *p)
{{
    const uint{n} bits = as_uint{n}(x);
    const uint{n} rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    vstore{n}(convert_ushort{n}(select(rounded, bits >> 16 | 64, isnan(x))), 0, p);
}}
"""

ELEMENTS = {
    Type.f32: Element("float", "float"),
    Type.f16: Element("half", "float", "vload_half(i, p)", "vstore_half_rte(v, i, p)", "vload_half{n}(0, p)",
                      "vstore_half{n}_rte(v, 0, p)"),
    Type.bf16: Element("ushort", "float", "as_float((uint)(p)[i] << 16)", "((p)[i] = bf16_bits(v))",
                       "as_float{n}(convert_uint{n}(vload{n}(0, p)) << 16)", "bf16_store{n}(v, p)",
                       _BF16 + _BF16_VECTOR.format(n=8) + _BF16_VECTOR.format(n=16)),
    Type.f64: Element("double", "double", prelude="#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"),
    **{kind: Element(name, name) for kind, name in (
        (Type.i8, "char"), (Type.u8, "uchar"), (Type.boolean, "uchar"), (Type.i16, "short"), (Type.u16, "ushort"),
        (Type.i32, "int"), (Type.u32, "uint"), (Type.i64, "long"), (Type.u64, "ulong"),
    )},
}  # fmt: skip

# Text before a kernel that runs no epilogue; see elementwise/epilogue.py.
NO_EPILOGUE = "#define EPILOGUE_PARAMETERS\n#define EPILOGUE(v, at, channel) (v)\n#define CHANNEL(row, column) 0\n"
FLOATS = tuple(kind for kind in ELEMENTS if kind.is_real())


@functools.cache
def template(name: str) -> str:
    """Return the text of ``name``.cl, whose name is unique among the folders of all families."""
    return _paths()[name].read_text(encoding="utf-8")


@functools.cache
def _paths() -> dict[str, Path]:
    return {path.stem: path for path in Path(__file__).parents[1].glob("*/*.cl")}


def unsupported_types(node: Node, values: Sequence[Output] | None = None) -> str | None:
    """Return a reason if an element type has no C type. Checks ``values``, by default all inputs and outputs."""
    for value in (*node.input_values(), *node.outputs()) if values is None else values:
        if value.element_type not in ELEMENTS:
            return f"no kernel for {node.type_info.name} with elements of type {value.element_type}"
    return None


def unsupported_unless(kinds: Collection[Type]) -> Callable[[Node], str | None]:
    """Return a check for ``lowers`` that rejects nodes whose input 0 has none of these element types."""

    def check(node: Node) -> str | None:
        kind = node.get_input_element_type(0)
        return None if kind in kinds else f"no kernel for {node.type_info.name} with elements of type {kind}"

    return check


def unsupported_inputs(*indices: int) -> Callable[[Node], str | None]:
    """Return a check for ``lowers`` that rejects nodes of which one of these inputs has elements without a C type."""
    return lambda node: unsupported_types(node, [node.input_value(index) for index in indices])


def first_reason(*checks: Callable[[Any], str | None]) -> Callable[[Any], str | None]:
    """Return a check for ``lowers`` that rejects what one of several rejects."""
    return lambda node: next(filter(None, (check(node) for check in checks)), None)


unsupported_non_float = unsupported_unless(FLOATS)


def float_type(kind: Type) -> Type:
    """Return the floating-point type in which kernels compute with elements of this type: f64 for f64, else f32."""
    return Type.f64 if kind is Type.f64 else Type.f32


def source(name: str, types: Mapping[str, Type] | None = None, prelude: str = "", /, **macros: object) -> str:
    """Return the text of ``name``.cl, preceded by the macros of ``element_macros(types)``, ``macros`` and a prelude."""
    elements = element_macros(types or {})
    return elements + "".join(f"#define {key} {value}\n" for key, value in macros.items()) + prelude + template(name)


def element_macros(types: Mapping[str, Type], elements: Mapping[Type, Element] = ELEMENTS) -> str:
    """Return macros with which a kernel loads and stores elements; ``types`` maps macro names to element types.

    For a name T: ``T`` is the C type in memory, ``T_VALUE`` the C type to compute with, ``T_LOAD(p, i)`` and
    ``T_STORE(v, i, p)`` access one element, ``T_VALUE16``, ``T_LOAD16(p)`` and ``T_STORE16(v, p)`` access 16
    consecutive ones, and those with 8 in place of 16 access 8.
    """
    lines = list(dict.fromkeys(elements[kind].prelude for kind in types.values()))
    for name, kind in types.items():
        element = elements[kind]
        lines += [
            f"#define {name} {element.stored}\n",
            f"#define {name}_VALUE {element.value}\n",
            f"#define {name}_LOAD(p, i) {element.load}\n",
            f"#define {name}_STORE(v, i, p) {element.store.format(stored=element.stored)}\n",
        ]
        for n in (8, 16):
            lines += [
                f"#define {name}_VALUE{n} {element.value}{n}\n",
                f"#define {name}_LOAD{n}(p) {element.load_vector.format(n=n)}\n",
                f"#define {name}_STORE{n}(v, p) {element.store_vector.format(n=n)}\n",
            ]
    return "".join(lines)
