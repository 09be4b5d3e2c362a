"""Programs of PaddlePaddle of one operator or a few, saved in both forms, and their results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import paddle
from paddle.base import core
from paddle.base.framework import Block
from paddle.pir_utils import OldIrGuard

from tests.frameworks.paddle.make_networks import remove_origins

# Outputs that only training reads.
_FOR_TRAINING = {
    "XShape", "DropoutState", "Reserve", "Mean", "Variance", "MeanOut", "VarianceOut", "SavedMean", "SavedVariance",
    "MidOut", "OutScale", "OutState", "OutAccum", "Norm",
}  # fmt: skip


class Constant(NamedTuple):
    """An input whose value is a parameter of the program."""

    array: np.ndarray


Input = np.ndarray | Constant | Sequence[np.ndarray | Constant]


class Case(NamedTuple):
    """An operator with its inputs and attributes. ``outputs``: the number of values of each port."""

    op_type: str
    inputs: Mapping[str, Input]
    outputs: Mapping[str, int]
    attributes: Mapping[str, Any]

    def __str__(self) -> str:
        shapes = [
            np.shape(getattr(value, "array", value)) for value in self.inputs.values() if not isinstance(value, list)
        ]
        return f"{self.op_type} {shapes} {dict(self.attributes)}"


class Saved(NamedTuple):
    """The inputs and results of a program, in order, and the paths of its files.

    ``json`` is None if PaddlePaddle itself cannot convert the program to its newer form.
    """

    inputs: list[np.ndarray]
    outputs: list[np.ndarray]
    input_names: list[str]
    output_names: list[str]
    program: Path
    json: Path | None


class ProgramBuilder:
    """A ProgramDesc under construction, whose operators have the given attributes and no others."""

    def __init__(self) -> None:
        self.main = paddle.static.Program()
        self.block: Block = self.main.global_block()
        self.feeds: dict[str, np.ndarray] = {}
        self.parameters: dict[str, np.ndarray] = {}
        self._count = 0

    def name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._count}"

    def feed(self, array: np.ndarray, shape: Sequence[int] | None = None) -> Any:
        name = self.name("x")
        self.feeds[name] = np.array(array, order="C")
        variable = self.block.create_var(
            name=name, shape=array.shape if shape is None else shape, dtype=str(array.dtype), need_check_feed=True
        )
        return variable

    def parameter(self, array: np.ndarray) -> Any:
        name = self.name("w")
        self.parameters[name] = array
        return self.block.create_var(name=name, shape=array.shape, dtype=str(array.dtype), persistable=True)

    def value(self, given: Any) -> list[Any]:
        if isinstance(given, list):
            return [one for item in given for one in self.value(item)]
        if isinstance(given, Constant):
            return [self.parameter(given.array)]
        return [self.feed(given) if isinstance(given, np.ndarray) else given]

    def add(self, case: Case, block: Block | None = None) -> list[Any]:
        """Add an operator and return its outputs, except those that only training reads."""
        block = block or self.block
        inputs = {port: self.value(given) for port, given in case.inputs.items()}
        outputs = {
            port: [block.create_var(name=self.name(f"{case.op_type}_{port}"), dtype="float32") for _ in range(count)]
            for port, count in case.outputs.items()
        }
        if case.op_type == "batch_norm":
            # The statistics are updated in place.
            outputs |= {"MeanOut": inputs["Mean"], "VarianceOut": inputs["Variance"]}
        block.append_op(type=case.op_type, inputs=inputs, outputs=outputs, attrs=dict(case.attributes))
        unread = _FOR_TRAINING | ({"Mask"} if case.op_type == "dropout" else set())
        return [variable for port, values in outputs.items() if port not in unread for variable in values]

    def save(self, fetches: Sequence[Any], path: Path) -> Saved:
        """Run the program, and write it as PATH.pdmodel and PATH.json, each with its parameters."""
        path.with_suffix(".pdiparams").unlink(missing_ok=True)  # a program without parameters writes none
        executor, scope = paddle.static.Executor(paddle.CPUPlace()), paddle.static.Scope()
        with paddle.static.scope_guard(scope):
            for name, array in self.parameters.items():
                scope.var(name).get_tensor().set(array, paddle.CPUPlace())
            results = executor.run(self.main, feed=self.feeds, fetch_list=list(fetches), return_numpy=False)
            feeds = [self.block.var(name) for name in self.feeds]
            paddle.static.save_inference_model(str(path), feeds, list(fetches), executor, program=self.main)
        program, json = path.with_suffix(".pdmodel"), path.with_suffix(".json")
        remove_origins(program)
        converted = json if write_json(program, json) else None
        outputs, names = [np.array(result) for result in results], [variable.name for variable in fetches]
        return Saved(list(self.feeds.values()), outputs, list(self.feeds), names, program, converted)


def write_json(program: Path, json: Path) -> bool:
    """Write a ProgramDesc as a JSON program. Return whether PaddlePaddle can convert it."""
    loaded = paddle.static.Program.parse_from_string(program.read_bytes())
    try:
        converted = paddle.pir.translate_to_pir(loaded.desc)
    except (RuntimeError, ValueError):
        return False
    core.serialize_pir_program(converted, str(json))
    return True


def save_case(case: Case, path: Path) -> Saved:
    """Save the program of one operator."""
    return save_program(lambda builder: builder.add(case), path)


def save_program(build: Callable[[ProgramBuilder], Sequence[Any]], path: Path) -> Saved:
    """Save the program that ``build`` makes, which returns what to fetch."""
    paddle.enable_static()
    with OldIrGuard():
        builder = ProgramBuilder()
        with paddle.static.program_guard(builder.main, paddle.static.Program()):
            fetches = build(builder)
        return builder.save(fetches, path)
