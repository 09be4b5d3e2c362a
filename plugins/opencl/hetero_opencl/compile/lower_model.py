"""Lower a model of static shapes to a program."""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from hetero.compiler import KnownLengths
from hetero.core.lengths.guards import Guards
from hetero.graph import Model, is_terminal
from hetero.passes import align_prelu_slopes, fuse_elementwise, sink_channel_shuffles
from hetero.system.errors import UnsupportedOperationError
from hetero_opencl.compile.fusion import FUSION_RULES
from hetero_opencl.compile.group_convolutions import widen_groups
from hetero_opencl.compile.launch_merging import merge_launches
from hetero_opencl.compile.layout_assignment import assign_layouts
from hetero_opencl.compile.segments import is_container
from hetero_opencl.compile.shared_heads import share_heads
from hetero_opencl.kernels import implementations_of
from hetero_opencl.kernels.common.layout_conversion import conversion_seconds, convert
from hetero_opencl.lowering.concat_parts import find_concat_parts
from hetero_opencl.lowering.constants import Constants
from hetero_opencl.lowering.implementation import KernelOperation, choices_of
from hetero_opencl.lowering.lowering import Lowering, LoweringReport
from hetero_opencl.lowering.program import KernelProgram
from hetero_opencl.lowering.tuning import Tuning, operation_key
from hetero_opencl.lowering.varying import Varying
from hetero_opencl.profiles.profile import DeviceProfile


def lower_model(
    model: Model,
    profile: DeviceProfile,
    constants: Constants,
    tuning: Tuning,
    is_profiled: bool,
    failed: Collection[tuple[str, str]] = (),
    guards: Guards | None = None,
) -> KernelProgram:
    """Return the program of a model or of a loop's body; all shapes are static. See ``lower_fused``.

    ``guards`` are those of the Lengths in the shapes, if there are any.
    """
    align_prelu_slopes(model)  # those of data whose rank was unknown before
    sink_channel_shuffles(model)  # those of values whose shape was unknown before
    widen_groups(model, profile)
    share_heads(model)
    fuse_elementwise(model, FUSION_RULES)
    return lower_fused(model, profile, constants, tuning, is_profiled, failed, guards)


def lower_fused(
    model: Model,
    profile: DeviceProfile,
    constants: Constants,
    tuning: Tuning,
    is_profiled: bool,
    failed: Collection[tuple[str, str]] = (),
    guards: Guards | None = None,
) -> KernelProgram:
    """Return the program of a model whose operations are fused.

    If it is profiled, launches are not merged, so that each has a time. ``failed`` are choices that do not build: an
    operation (``operation_key``), and an implementation and its layouts (``Choice.key``).
    """
    operations = [
        KernelOperation(node, guards is not None)
        for node in model.get_ordered_ops()
        if not (is_terminal(node) or isinstance(node, KnownLengths))
    ]
    choices = {}
    for operation in operations:
        if guards is not None:
            guards.cause = f"the choice of kernels for {operation.type_name} '{operation.name}'"
        options = choices_of(operation, implementations_of(operation.main), profile, tuning)
        if failed:
            key = operation_key(operation)
            options = [choice for choice in options if (key, choice.key) not in failed]
        if not options:
            raise UnsupportedOperationError(f"{operation.type_name} '{operation.name}' has no OpenCL kernel")
        choices[operation.node] = options
    chosen = assign_layouts(choices, partial(conversion_seconds, profile=profile))
    layouts = {value: choice.signature.output for node, choice in chosen.items() for value in node.outputs()}
    parts = find_concat_parts(operations, chosen, profile.base_alignment)
    report = LoweringReport(choices=choices, chosen=chosen)
    with contextlib.ExitStack() as stack:
        executor = ThreadPoolExecutor(1)
        stack.callback(executor.shutdown, wait=False)  # kernels are built while it uploads the last constants
        lowering = Lowering(profile, constants, layouts, parts, convert, report, executor)
        for operation in operations:
            if guards is not None:
                guards.cause = f"{operation.type_name} '{operation.name}'"
            lowering.lower(operation, chosen[operation.node])
        results = [result.input_value(0) for result in model.results if not is_container(result)]
        inputs = [lowering.buffer(parameter.output(0)) for parameter in model.parameters if not is_container(parameter)]
        outputs = [lowering.result(value) for value in results]
        commands = lowering.launches
        if not is_profiled:
            commands = merge_launches(commands, profile, lowering.constant)
        commands = [command.with_declared_size() for command in commands]
        shapes = [None if value in lowering.shape_buffers else tuple(value.shape) for value in results]
        varying = None
        if guards is not None:
            varying = Varying(guards)
            commands, shapes = varying.take_commands(commands), varying.take_shapes(shapes)
            varying.take_buffers(
                [*inputs, *outputs, *(b for c in commands for p in (c, *c.parts) for b in p.buffers())]
            )
            varying.close()
        return KernelProgram(
            profile,
            model,
            lowering.steps,
            [launch for command in commands for launch in command.parts or (command,)],
            commands,
            inputs,
            outputs,
            shapes,
            {i: lowering.shape_buffers[value] for i, value in enumerate(results) if value in lowering.shape_buffers},
            lowering.finished_report(),
            varying,
        )
