"""Definition of a kernel: its registration for classes of operations, its OpenCL C source, and its element types.

Macros load and store elements of each type. f16 and bf16 are stored in 16 bits and computed as float. Core OpenCL C
converts f16 even on devices without cl_khr_fp16; bf16 is the upper half of a float.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Generic, NamedTuple, ParamSpec, TypeVar

from hetero.core.tensor import Tensor
from hetero.core.types import Type
from hetero.graph import Node, Output
from hetero_opencl.lowering.implementation import Configuration, Implementation, KernelOperation, Signature
from hetero_opencl.profiles.profile import DeviceProfile, Family

if TYPE_CHECKING:
    from hetero_opencl.lowering.lowering import Lowering

# The node is of a class that the function is registered for.
Lower = Callable[["Lowering", Any], None]
# Takes a HostStep of execute/host_steps, and its input tensors.
Run = Callable[[Any, list[Tensor]], list[Tensor]]
# Returns the reason why a node cannot be lowered, or None if it can. Shapes may be partly unknown.
Unsupported = Callable[[Any], str | None]

# Returns the estimated seconds of an operation.
Estimate = Callable[[KernelOperation, DeviceProfile], float]


_Lower = TypeVar("_Lower", bound=Lower)
_Parameters = ParamSpec("_Parameters")
_Returned = TypeVar("_Returned")


class by_family(Generic[_Parameters, _Returned]):
    """Decorator of a function of a Lowering and more that has another definition for GPUs: that with ``on_gpus``."""

    def __init__(self, function: Callable[Concatenate[Lowering, _Parameters], _Returned]) -> None:
        functools.update_wrapper(self, function)
        self._definitions = dict.fromkeys(Family, function)

    def __call__(self, lowering: Lowering, *args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Returned:
        return self._definitions[lowering.profile.family](lowering, *args, **kwargs)

    def on_gpus(
        self, function: Callable[Concatenate[Lowering, _Parameters], _Returned]
    ) -> Callable[Concatenate[Lowering, _Parameters], _Returned]:
        """Make the decorated function the definition for GPUs."""
        self._definitions[Family.GPU] = function
        return function


class LoweringFunction(Implementation):
    """A function that reads and writes rows."""

    def __init__(self, function: Lower, estimate: Estimate | None = None) -> None:
        self._function, self._estimate = function, estimate

    @property
    def name(self) -> str:
        return self._function.__name__

    def estimate(
        self, operation: KernelOperation, signature: Signature, configuration: Configuration, profile: DeviceProfile
    ) -> float:
        if self._estimate:
            return self._estimate(operation, profile)
        return super().estimate(operation, signature, configuration, profile)

    def emit(
        self, lowering: Lowering, operation: KernelOperation, signature: Signature, configuration: Configuration
    ) -> None:
        self._function(lowering, operation.main)


class _Entry(NamedTuple):
    implementation: LoweringFunction
    unsupported: Unsupported | None


_lowerings: dict[type[Node], _Entry] = {}
# Lowering functions selected by a predicate instead of the class.
_conditional_lowerings: list[tuple[Callable[[Node], bool], _Entry]] = []
_implementations: dict[type[Node], list[Implementation]] = {}
_host_steps: dict[type[Node], Run] = {}


def lowers(
    *operations: type[Node], unsupported: Unsupported | None = None, estimate: Estimate | None = None
) -> Callable[[_Lower], _Lower]:
    """Register the decorated ``f(lowering, node)``, which adds the launches of a node, for these operations.

    ``unsupported`` returns the reason why a node is not supported, or None. ``estimate``, which operations with other
    implementations need, returns the seconds on a device.
    """

    def register(function: _Lower) -> _Lower:
        for operation in operations:
            _lowerings[operation] = _Entry(LoweringFunction(function, estimate), unsupported)
        return function

    return register


def lowers_if(matches: Callable[[Node], bool], unsupported: Unsupported) -> Callable[[Lower], Lower]:
    """Register the decorated function for each node that ``matches`` and whose class is not registered."""

    def register(function: Lower) -> Lower:
        _conditional_lowerings.append((matches, _Entry(LoweringFunction(function), unsupported)))
        return function

    return register


def custom_unsupported_reason(node: Node) -> str | None:
    """Return the result of the node's own ``opencl_unsupported_reason`` method, or None if it has none."""
    check = getattr(node, "opencl_unsupported_reason", None)
    return check() if check else None


def runs_on_host(*operations: type[Node]) -> Callable[[Run], Run]:
    """Register the decorated ``f(step, tensors)``, which executes these operations on the host.

    It may run bodies and copy within device memory, but does no arithmetic itself.
    """

    def register(function: Run) -> Run:
        _host_steps.update(dict.fromkeys(operations, function))
        return function

    return register


def is_host_step(node: Node) -> bool:
    """Return whether the host executes a node, instead of kernels."""
    return type(node) in _host_steps


def host_step_of(node: Node) -> Run:
    """Return the function that executes a node on the host."""
    return _host_steps[type(node)]


def implements(*operations: type[Node]) -> Callable[[type[Implementation]], type[Implementation]]:
    """Register an instance of the decorated class for operations whose anchor is of these types."""

    def register(implementation: type[Implementation]) -> type[Implementation]:
        for operation in operations:
            _implementations[operation] = [*_implementations.get(operation, ()), implementation()]
        return implementation

    return register


def implementations_of(node: Node) -> list[Implementation]:
    """Return what can run an operation with this anchor: its lowering function if it has one, and implementations."""
    entry = _find_entry(node)
    return [*([entry.implementation] if entry else []), *_implementations.get(type(node), ())]


def unsupported_reason(node: Node) -> str | None:
    """Return the reason why a node can neither be lowered nor run on the host, or None if it can."""
    if type(node) in _host_steps:
        return None
    entry = _find_entry(node)
    if entry is None:
        return f"no kernel for {node.type_info.version_id}::{node.type_info.name}"
    return entry.unsupported(node) if entry.unsupported else None


def _find_entry(node: Node) -> _Entry | None:
    conditional = (entry for matches, entry in _conditional_lowerings if matches(node))
    return _lowerings.get(type(node)) or next(conditional, None)


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
static inline ushort bf16_bits(const float x)
{
    const uint bits = as_uint(x);
    return isnan(x) ? (bits >> 16) | 64 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
"""
_BF16_VECTOR = """\
static inline void bf16_store{n}(const float{n} x, global ushort *p)
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


def is_comparable(kinds: Collection[Type]) -> bool:
    """Return whether kernels compare numbers of these types: not u64 with signed integers."""
    return Type.u64 not in kinds or all(kind.is_real() or not kind.is_signed() for kind in kinds)


def _wide_type(kinds: Collection[Type]) -> Type:
    """Return the type in which two types are compared first."""
    if any(kind.is_real() for kind in kinds):
        return Type.f64 if Type.f64 in kinds else Type.f32
    return Type.u64 if Type.u64 in kinds else Type.i64


def comparison_source(name: str, types: Mapping[str, Type], **macros: object) -> str:
    """Return the text of a .cl file that calls ``compare`` on numbers of the comparable types LEFT and RIGHT."""
    kinds = types["LEFT"], types["RIGHT"]
    exact = "ulong" if Type.u64 in kinds else "long"
    macros |= {"WIDE": ELEMENTS[_wide_type(kinds)].value, "EXACT": exact, "CONVERT": f"convert_{exact}_sat"}
    return source("comparison", types, **macros) + template(name)


# C types of sums. Integer sums wrap around, which C defines only for unsigned types.
SUMS = {
    **dict.fromkeys((Type.f32, Type.f16, Type.bf16), "float"), Type.f64: "double",
    **dict.fromkeys((Type.i8, Type.u8, Type.i16, Type.u16, Type.i32, Type.u32), "uint"),
    **dict.fromkeys((Type.i64, Type.u64), "ulong"),
}  # fmt: skip
OF_8_BYTES = ("double", "ulong")


def wide_type(kind: Type) -> Type:
    """Return the type of sums that are passed from one launch to the next, so that they are rounded once."""
    return Type.f32 if kind in (Type.f16, Type.bf16) else kind


class ProductTypes(NamedTuple):
    """Element types: all floating-point or all integers; and all f64 or none, all of 64 bits or none."""

    left: Type = Type.f32
    right: Type = Type.f32
    result: Type = Type.f32


SINGLE = ProductTypes()


def source_of_sums(name: str, types: ProductTypes, prelude: str = "", **macros: object) -> str:
    """Return the text of a .cl file that sums products of LEFT and RIGHT in SUM and stores RESULT."""
    total = SUMS[types.result]
    names = {"LEFT": types.left, "RIGHT": types.right, "RESULT": types.result}
    macros |= {"SUM": total, **{f"SUM{width}": f"{total}{width}" for width in (4, 8, 16)}}
    macros |= {f"WIDEN_{key}(x)": _widened(kind, total) for key, kind in names.items()}
    macros["NARROW(x)"] = "(x)" if types.result.is_real() else f"convert_{ELEMENTS[types.result].value}16(x)"
    return source(name, names, prelude, **macros)


def _widened(kind: Type, total: str) -> str:
    """Return the macro body that converts 16 elements to the type of sums."""
    if kind.is_real():
        return "(x)"
    # Through the signed type, which preserves the sign of the elements.
    return f"as_{total}16(convert_{total[1:]}16(x))" if kind.is_signed() else f"convert_{total}16(x)"
