"""Reading LLVM IR, as clang writes it for a kernel in OpenCL C.

The form is described in the LLVM Language Reference Manual. What the estimates do not need is skipped.
"""

from __future__ import annotations

import functools
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from hetero.system.errors import ConfigError
from hetero_opencl.estimate.compilers.toolchain import error_of, run_tool

# -O1 inlines and unrolls as the kernel says, but does not form vectors or unroll more.
_OPTIONS = (
    *("-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header"),
    *("-target", "spir64-unknown-unknown", "-w", "-O1", "-fno-discard-value-names", "-S", "-emit-llvm"),
)
_DEFINITION = re.compile(r"^define .*spir_kernel void @(\w+)\((.*)\)")
_LABEL = re.compile(r"^([\w.$-]+|\"[^\"]+\"):")
_RESULT = re.compile(r"^(%[\w.$-]+|%\"[^\"]+\") = (.*)$")
_GLOBAL = re.compile(r"^(@[\w.$-]+) = .*?addrspace\((\d)\) (?:global|constant) (.+?)(?: undef| zeroinitializer|,|$)")
# Words before the type of an instruction that do not change what it does to addresses.
_FLAGS = re.compile(
    r"\b(?:nsw|nuw|exact|inbounds|nusw|fast|nnan|ninf|nsz|arcp|contract|afn|reassoc|volatile|tail|musttail|notail|"
    r"nneg|disjoint|samesign|noundef|nonnull|noalias|nocapture|readonly|writeonly|zeroext|signext|immarg|spir_func|"
    r"align \d+|dereferenceable\(\d+\)|range\([^)]*\))\s+"
)
_CALL = re.compile(r"^(?:call) (.+?) (@[\w.]+)\((.*)\)")


@dataclass(frozen=True)
class Type:
    """A type: its scalar (i32, float, ptr), the number of its elements, and the address space of a pointer."""

    scalar: str
    count: int = 1
    space: int = 0

    @cached_property
    def scalar_bytes(self) -> int:
        """The bytes of an element in memory."""
        sizes = {"half": 2, "bfloat": 2, "float": 4, "double": 8, "ptr": 8, "void": 0}
        return sizes[self.scalar] if self.scalar in sizes else max(1, int(self.scalar[1:]) // 8)

    @property
    def byte_size(self) -> int:
        return self.scalar_bytes * self.count

    @property
    def is_float(self) -> bool:
        return self.scalar in ("half", "bfloat", "float", "double")


VOID = Type("void")


@dataclass(frozen=True, eq=False)
class Instruction:
    """An instruction: its name and type, its operands as text, and the blocks that it names.

    ``name`` is empty without a result. The type is that of the result, of a store that of what is stored, of a
    comparison that of what is compared. ``callee`` is the function of a call, ``source`` the scalar type that a
    conversion starts from. ``strides`` are the bytes that each index of a getelementptr counts. ``space`` is the
    address space that is read or written: 0 is private, 1 global, 3 local memory; ``align`` are the bytes that the
    address is a multiple of, 0 if that is not said.
    """

    opcode: str
    name: str
    type: Type
    operands: tuple[str, ...]
    blocks: tuple[str, ...] = ()
    callee: str = ""
    strides: tuple[int, ...] = ()
    source: str = ""
    space: int = 0
    align: int = 0


@dataclass
class Block:
    """Instructions that run one after another: phis first, the last one ends the block."""

    name: str
    instructions: list[Instruction] = field(default_factory=list)


@dataclass
class KernelCode:
    """A kernel with its parameters, its blocks in order, and the bytes of its arrays in local memory."""

    name: str
    parameters: list[str]
    blocks: dict[str, Block]
    local_arrays: dict[str, int]


@functools.cache
def compile_to_ir(source: str) -> str:
    """Return a program as text in LLVM IR, for a GPU of any kind: functions of OpenCL C are calls.

    Raises ConfigError if clang is not installed, or does not accept the program.
    """
    with tempfile.TemporaryDirectory(prefix="hetero-ir-") as folder:
        program = Path(folder) / "program.cl"
        program.write_text(source, encoding="utf-8")
        text, is_compiled = run_tool("clang-19", [*_OPTIONS, program.name, "-o", "-"], Path(folder))
    if not is_compiled:
        raise ConfigError(f"a kernel does not compile: {error_of(text)}")
    return text


def parse_kernels(text: str) -> dict[str, KernelCode]:
    """Return the kernels of a module by name."""
    kernels: dict[str, KernelCode] = {}
    arrays: dict[str, int] = {}
    lines = iter(text.splitlines())
    for line in lines:
        if match := _GLOBAL.match(line):
            if match[2] == "3":  # local memory
                arrays[match[1]] = _size_of(match[3])
        elif match := _DEFINITION.match(line):
            parameters = [part.split()[-1] for part in split_top(match[2])]
            kernels[match[1]] = KernelCode(match[1], parameters, _blocks(lines), arrays)
    return kernels


def _blocks(lines: Iterator[str]) -> dict[str, Block]:
    blocks: dict[str, Block] = {}
    block = None
    for line in lines:
        if line.startswith("}"):
            break
        if match := _LABEL.match(line):
            block = blocks[match[1].strip('"')] = Block(match[1].strip('"'))
            continue
        code = line.split(" ; ")[0].strip()
        if not code or code.startswith(("#", ";")):
            continue
        if code.startswith("switch"):
            while "]" not in code:
                code += " " + next(lines).strip()
        if block is None:
            block = blocks["entry"] = Block("entry")
        block.instructions.append(_instruction(code))
    return blocks


def _instruction(code: str) -> Instruction:
    match = _RESULT.match(code)
    name, code = (match[1], match[2]) if match else ("", code)
    alignment = re.search(r", align (\d+)", code)
    code = _FLAGS.sub("", re.sub(r", (?:![\w.]+ !?[\w.]+|align \d+)", "", code))
    opcode, _, rest = code.partition(" ")
    if opcode == "br":
        labels = tuple(label.strip('"') for label in re.findall(r"label %([\w.$-]+|\"[^\"]+\")", rest))
        return Instruction(opcode, "", VOID, (_operand(split_top(rest)[0]),) if len(labels) > 1 else (), labels)
    if opcode == "switch":
        head, _, cases = rest.partition("[")
        labels = tuple(re.findall(r"label %([\w.$-]+)", rest))
        values = tuple(re.findall(r"i\d+ (-?\d+), label", cases))
        return Instruction(opcode, "", VOID, (_operand(split_top(head)[0]), *values), labels)
    if opcode == "phi":
        kind, _, _ = rest.partition(" [")
        pairs = re.findall(r"\[ (.+?), %([\w.$-]+|\"[^\"]+\") \]", rest)
        values, labels = tuple(pair[0] for pair in pairs), tuple(pair[1].strip('"') for pair in pairs)
        return Instruction(opcode, name, parse_type(kind), values, labels)
    if opcode == "call":
        found = _CALL.match(code)
        assert found is not None, code
        operands = tuple(_operand(part) for part in split_top(found[3]))
        return Instruction(opcode, name, parse_type(found[1]), operands, callee=found[2][1:], space=_space(code))
    return replace(_plain_instruction(opcode, name, rest), align=int(alignment[1]) if alignment else 0)


def _plain_instruction(opcode: str, name: str, rest: str) -> Instruction:
    parts = split_top(rest)
    if opcode in ("ret", "unreachable"):
        return Instruction(opcode, "", VOID, ())
    if opcode == "alloca":
        return Instruction(opcode, name, Type("ptr"), (str(_size_of(parts[0])),))
    if opcode == "load":
        return Instruction(opcode, name, parse_type(parts[0]), (_operand(parts[1]),), space=_space(rest))
    if opcode == "store":
        kind = parse_type(parts[0].rsplit(" ", 1)[0]) if " " in parts[0] else VOID
        operands = tuple(_operand(part) for part in parts)
        return Instruction(opcode, "", _type_before_operand(parts[0]) or kind, operands, space=_space(parts[1]))
    if opcode == "getelementptr":
        pointer = _type_before_operand(parts[1]) or Type("ptr")
        operands = tuple(_operand(part) for part in parts[1:])
        return Instruction(opcode, name, pointer, operands, strides=_strides(parts[0], len(parts) - 2))
    if opcode in ("icmp", "fcmp"):
        predicate, _, typed = parts[0].partition(" ")
        kind = _type_before_operand(typed) or VOID
        return Instruction(f"{opcode} {predicate}", name, kind, (_operand(typed), *map(_operand, parts[1:])))
    if " to " in rest:  # a conversion
        source, _, target = rest.rpartition(" to ")
        return Instruction(opcode, name, parse_type(target), (_operand(source),), source=parse_type(source).scalar)
    kind = _type_before_operand(parts[1] if opcode == "select" else parts[0]) or VOID
    if opcode == "extractelement":
        kind = Type(kind.scalar)
    if opcode == "shufflevector":
        kind = Type(kind.scalar, parse_type(parts[2].split(">")[0] + ">").count)
    return Instruction(opcode, name, kind, tuple(map(_operand, parts)))


def split_top(text: str) -> list[str]:
    """Split at the commas that are not in brackets."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        if letter in "<[({":
            depth += 1
        elif letter in ">])}":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    rest = text[start:].strip()
    return [*parts, rest] if rest else parts


def parse_type(text: str) -> Type:
    """Return a type. Of an aggregate only the size is kept, as bytes."""
    text = text.strip()
    if match := re.match(r"<(\d+) x (\w+)>", text):
        return Type(match[2], int(match[1]))
    if text.startswith("ptr"):
        space = re.search(r"addrspace\((\d+)\)", text)
        return Type("ptr", 1, int(space[1]) if space else 0)
    if text.startswith(("[", "{")):
        return Type("i8", _size_of(text))
    return Type(text.split()[0])


def _type_before_operand(text: str) -> Type | None:
    """Return the type in ``<type> <operand>``."""
    if match := re.match(r"(<\d+ x \w+>|ptr addrspace\(\d+\)|\[.*?\]+|[\w.]+) ", text):
        return parse_type(match[1])
    return None


def _operand(text: str) -> str:
    """Return the operand in ``<type> <operand>``."""
    match = re.match(r"(?:<\d+ x \w+>|ptr addrspace\(\d+\)|\[.*?\]+|[\w.]+) (.*)$", text)
    return (match[1] if match else text).strip()


def _space(text: str) -> int:
    """Return the address space of the first pointer that is not in private memory, 0 if there is none."""
    found = re.search(r"ptr addrspace\((\d+)\)", text)
    return int(found[1]) if found else 0


def _size_of(text: str) -> int:
    """Return the bytes of a type, arrays included."""
    text = text.strip()
    if match := re.match(r"\[(\d+) x (.*)\]", text):
        return int(match[1]) * _size_of(match[2])
    if text.startswith("{"):
        return sum(map(_size_of, split_top(text.strip("{} "))))
    return parse_type(text).byte_size


def _strides(text: str, count: int) -> tuple[int, ...]:
    """Return the bytes that each of ``count`` indices of a getelementptr over this type counts."""
    strides = [_size_of(text)]
    while len(strides) < count:
        match = re.match(r"\[\d+ x (.*)\]", text.strip())
        text = match[1] if match else re.sub(r"<\d+ x (\w+)>", r"\1", text)
        strides.append(_size_of(text))
    return tuple(strides)
