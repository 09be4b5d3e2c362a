"""Lowering dump: the stages of lowering a model to a program, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from hetero import ops
from hetero.graph import Constant, Output, Result, is_constant
from hetero_opencl.device.launch import Buffer
from hetero_opencl.lowering.implementation import ROWS, Choice, KernelOperation
from hetero_opencl.lowering.memory_plan import MemoryPlan
from hetero_opencl.lowering.program import KernelProgram, memory_of

# The size of the drawing of an arena in characters; the height is approximate.
WIDTH, HEIGHT = 96, 48
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def transform(program: KernelProgram) -> str:
    """The model that is lowered, after the passes for all devices, with static shapes and folded constants."""
    nodes = [node for node in program.model.get_ordered_ops() if not isinstance(node, (Constant, Result))]
    rows = [
        (
            node.friendly_name,
            node.type_info.name,
            ", ".join(_value_name(operation.outer(value)) for value in node.input_values()),
            ", ".join(_type_and_shape(output) for output in node.outputs()),
        )
        for operation in map(KernelOperation, nodes)
        for node in operation.nodes
    ]
    return format_table(("operation", "type", "inputs", "outputs"), rows)


def guards(program: KernelProgram) -> str:
    """What must hold for the lengths of other shapes that the program serves, and the operation that caused it."""
    if program.varying is None:
        return "It serves one shape."
    found = program.varying.guards
    rows = [(each.text(found.names), cause or "shape inference") for each, cause in found.conditions.items()]
    symbols = ", ".join(f"{found.names[symbol]} = {hint}" for symbol, hint in found.hints.items())
    return f"made for {symbols}\n\n{format_table(('condition', 'caused by'), rows)}"


def fuse(program: KernelProgram) -> str:
    """Fused operations, under the name of the anchor, or of the last one if there is no anchor."""
    rows = [
        (node.friendly_name, len(node.operations), " ".join(operation.type_info.name for operation in node.operations))
        for node in program.model.get_ordered_ops()
        if isinstance(node, ops.Fused) and len(node.operations) > 1
    ]
    return format_table(("kernel of", "operations", "in order"), rows)


def layout(program: KernelProgram) -> str:
    """The layout in which each kernel reads its inputs, and where it is converted; readers share a conversion."""
    uses = program.lowering_report.layouts
    rows = [
        (use.name, use.value if isinstance(use.value, str) else _value_name(use.value), use.layout, use.made)
        for use in uses
    ]
    converted = len([use for use in uses if use.made == "here"])
    plain = len([use for use in uses if use.layout == str(ROWS)])
    summary = f"{len(uses)} inputs, {plain} of them in rows; {converted} conversions by kernels"
    return f"{summary}\n\n{format_table(('operation', 'reads', 'in layout', 'converted'), dict.fromkeys(rows))}"


def select(program: KernelProgram) -> str:
    """The implementation of each operation with its configuration and kernels, and what else was considered."""
    report = program.lowering_report
    rows = []
    for step in program.steps:
        chosen = report.chosen[step.node]
        others = [_choice(choice) for choice in report.choices[step.node] if choice is not chosen]
        configuration = " ".join(f"{key}={value}" for key, value in chosen.configuration.items())
        reasons = "; ".join(dict.fromkeys(report.reasons.get(step.node, [])))
        kernels = f"{step.implementation} {configuration}".strip()
        rows.append((step.node.friendly_name, step.type_name, kernels, _choice(chosen), ", ".join(others), reasons))
    return format_table(("operation", "type", "kernels", "implementation", "instead of", "reasons"), rows)


def _choice(choice: Choice) -> str:
    layouts = dict.fromkeys((*choice.signature.inputs, choice.signature.output))
    name = f"{choice.implementation.name} in {' and '.join(map(str, layouts))}"
    return f"{name} ({choice.seconds * 1e6:.0f} µs{' measured' if choice.is_measured else ''})"


def memory(program: KernelProgram) -> str:
    """The offset and lifetime of each buffer, and a drawing of each arena: launches downwards, bytes to the right."""
    plan, used = program.memory_plan(), memory_of([program])
    ratio = plan.byte_size / max(1, plan.largest_live_set)
    names = _buffer_names(program)
    rows = [
        (names[buffer], size, *plan.slots[buffer][:2], _launch_label(first, program), _launch_label(last, program))
        for buffer, (size, first, last) in sorted(plan.lifetimes.items(), key=lambda item: item[1].first)
    ]
    arenas = " + ".join(f"{size:,}" for size in plan.arenas) or "0"
    summary = (
        f"weights {used['weights']:,} bytes, arena {arenas} bytes, largest live set {plan.largest_live_set:,} bytes,"
        f" arena / live set {ratio:.3f}"
    )
    table = format_table(("buffer", "bytes", "arena", "offset", "first", "last"), rows)
    drawings = [f"\narena {number}\n{_drawing(plan, number, program)}" for number in range(len(plan.arenas))]
    return "\n".join([summary, "", table, *drawings])


def launches(program: KernelProgram) -> str:
    """The program: every launch with its work sizes and arguments."""
    names = _buffer_names(program)
    rows = []
    for index, launch in enumerate(program.launches):
        arguments = " ".join(names[a] if isinstance(a, Buffer) else str(a) for a in launch.arguments)
        rows.append(
            (index, launch.node_name, launch.kernel, _sizes(launch.global_size), _sizes(launch.local_size), arguments)
        )
    return format_table(("launch", "operation", "kernel", "global size", "local size", "arguments"), rows)


#: The stages in order. The docstring of each is its heading.
STAGES: dict[str, Callable[[KernelProgram], str]] = {
    "transform": transform,
    "fuse": fuse,
    "layout": layout,
    "select": select,
    "memory": memory,
    "program": launches,
    "guards": guards,
}


def format_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [tuple(header), *(tuple(map(_cell, row)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines)]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def _cell(content: object) -> str:
    return f"{content:,}" if isinstance(content, (int, np.integer)) else " ".join(str(content).split())


def _value_name(value: Output) -> str:
    if is_constant(value):
        return f"constant {_type_and_shape(value)}"
    index = f":{value.index}" if len(value.node.outputs()) > 1 else ""
    return f"{value.node.friendly_name}{index}"


def _type_and_shape(value: Output) -> str:
    return f"{value.element_type}{value.partial_shape}".replace(" ", "")


def _sizes(sizes: Sequence[int] | None) -> str:
    return " x ".join(map(str, sizes)) if sizes else ""


def _launch_label(launch: int, program: KernelProgram) -> object:
    return "before" if launch < 0 else "after" if launch == len(program.launches) else launch


def _buffer_names(program: KernelProgram) -> dict[Buffer, str]:
    """Name each buffer by its value, or by the operation whose scratch memory it is; constants by number."""
    names: dict[Buffer, str] = {}
    for value, buffer in program.lowering_report.buffers.items():
        if buffer.is_planned:
            names.setdefault(buffer, _value_name(value))
    for launch in program.launches:
        for buffer in launch.buffers():
            if buffer.is_planned:
                names.setdefault(buffer, f"scratch of {launch.node_name}")
    for number, buffer in enumerate(program.constants()):
        names[buffer] = f"constant#{number}"
    for index, buffer in program.shape_buffers.items():
        names.setdefault(buffer, f"shape of output {index}")
    return names


def _drawing(plan: MemoryPlan[Any], arena: int, program: KernelProgram) -> str:
    """Draw an arena: a line per launch, or per few launches, and in it a letter per live buffer."""
    scale = plan.arenas[arena] / WIDTH
    # A part of a buffer has a slot, but lives as long as the whole.
    here = [buffer for buffer in plan.lifetimes if plan.slots[buffer].arena == arena]
    here.sort(key=lambda buffer: plan.lifetimes[buffer].first)
    step = max(1, -(-len(program.launches) // HEIGHT))
    lines = []
    for launch in [-1, *range(0, len(program.launches), step), len(program.launches)]:
        line = ["."] * WIDTH
        for number, buffer in enumerate(here):
            life, slot = plan.lifetimes[buffer], plan.slots[buffer]
            if life.first <= launch <= life.last:
                begin, end = int(slot.offset / scale), int((slot.offset + slot.byte_size) / scale)
                end = max(end, begin + 1)
                line[begin:end] = _LETTERS[number % len(_LETTERS)] * len(line[begin:end])
        lines.append(f"{_cell(_launch_label(launch, program)):>8}  {''.join(line)}")
    return "\n".join(lines)
