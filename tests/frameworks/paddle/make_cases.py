"""Makes the cases of tests/frontend/paddle: programs in both forms, with inputs and PaddlePaddle's outputs.

``python -m tests.frameworks.paddle.make_cases FOLDER`` with Paddle 3. The ``.pdmodel`` files of networks are from
``python -m tests.frameworks.paddle.make_networks FOLDER`` with Paddle 2, whose results are the same.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from tests.frameworks.paddle import make_networks
from tests.frameworks.paddle.array_programs import add_arrays
from tests.frameworks.paddle.case_inputs import STEP_SCOPES
from tests.frameworks.paddle.operators import FAMILIES
from tests.frameworks.paddle.programs import Case, Constant, ProgramBuilder, save_program

# The most cases of one operator that are stored.
_STORED = 2
# Operators that Paddle 3 cannot convert to its newer form.
_OLD = ("norm",)


def groups() -> dict[str, list[Case]]:
    """Return cases by the name of their family: the first ones of each operator."""
    families: dict[str, list[Case]] = {}
    for name, family_of in FAMILIES.items():
        family = sorted(family_of(), key=lambda case: case.op_type)
        stored = [list(cases)[:_STORED] for _, cases in groupby(family, key=lambda case: case.op_type)]
        families[name] = [case for cases in stored for case in cases if case.op_type not in _OLD]
    return families


def add_all(builder: ProgramBuilder, cases: Iterable[Case]) -> list[Any]:
    return [variable for case in cases for variable in builder.add(case)]


def add_control_flow(builder: ProgramBuilder) -> Sequence[Any]:
    """A loop that doubles a matrix while its sum is small, and two branches of which one is taken after it."""
    main, block = builder.main, builder.block

    def new(name: str, kind: str, shape: list[int], where: Any) -> Any:
        return where.create_var(name=name, dtype=kind, shape=shape)

    x = builder.feed(np.arange(6, dtype=np.float32).reshape(2, 3))
    total, small = new("total", "float32", [], block), new("small", "bool", [], block)
    limit = builder.add(Case("fill_constant", {}, {"Out": 1}, {"shape": [], "dtype": 5, "value": 100.0}))[0]
    state = new("state", "float32", [2, 3], block)
    block.append_op(type="assign", inputs={"X": [x]}, outputs={"Out": [state]})

    def add_condition(where: Any) -> None:
        where.append_op(
            type="reduce_sum", inputs={"X": [state]}, outputs={"Out": [total]}, attrs={"dim": [], "reduce_all": True}
        )
        where.append_op(type="less_than", inputs={"X": [total], "Y": [limit]}, outputs={"Out": [small]})

    add_condition(block)
    body = main._create_block()
    doubled = new("doubled", "float32", [2, 3], body)
    body.append_op(type="scale", inputs={"X": [state]}, outputs={"Out": [doubled]}, attrs={"scale": 2.0})
    body.append_op(type="assign", inputs={"X": [doubled]}, outputs={"Out": [state]})
    add_condition(body)
    main._rollback()
    scopes = block.create_var(name="scopes", type=STEP_SCOPES)
    block.append_op(
        type="while", inputs={"X": [state, limit], "Condition": [small]},
        outputs={"Out": [state, total], "StepScopes": [scopes]}, attrs={"sub_block": body, "is_test": True},
    )  # fmt: skip
    return [state, total, *_add_branches(builder, state, total)]


def _add_branches(builder: ProgramBuilder, value: Any, total: Any) -> list[Any]:
    """Add two blocks under opposite conditions, and the selection of the results of one."""
    main, block = builder.main, builder.block
    limit = builder.add(Case("fill_constant", {}, {"Out": 1}, {"shape": [], "dtype": 5, "value": 200.0}))[0]
    large = builder.add(Case("greater_than", {"X": total, "Y": limit}, {"Out": 1}, {}))[0]
    other = builder.add(Case("logical_not", {"X": large}, {"Out": 1}, {}))[0]
    results = []
    for name, condition, scale in (("then", large, -1.0), ("else", other, 0.5)):
        result = block.create_var(name=f"{name}_result", dtype="float32", shape=[2, 3])
        inner = main._create_block()
        scaled = inner.create_var(name=f"{name}_scaled", dtype="float32", shape=[2, 3])
        inner.append_op(type="scale", inputs={"X": [value]}, outputs={"Out": [scaled]}, attrs={"scale": scale})
        inner.append_op(type="assign", inputs={"X": [scaled]}, outputs={"Out": [result]})
        main._rollback()
        scope = block.create_var(name=f"{name}_scope", type=STEP_SCOPES)
        block.append_op(
            type="conditional_block", inputs={"Cond": [condition], "Input": [value]},
            outputs={"Out": [result], "Scope": [scope]}, attrs={"sub_block": inner, "is_scalar_condition": True},
        )  # fmt: skip
        results.append(result)
    mask = builder.add(Case("cast", {"X": large}, {"Out": 1}, {"in_dtype": 0, "out_dtype": 2}))[0]
    selected = block.create_var(name="selected", dtype="float32", shape=[2, 3])
    block.append_op(type="select_input", inputs={"X": results[::-1], "Mask": [mask]}, outputs={"Out": [selected]})
    return [selected]


def quantized(builder: ProgramBuilder) -> Sequence[Any]:
    """A convolution of 8-bit weights and activations, as slim models have it."""
    generator = np.random.default_rng(1)
    common = {"bit_length": 8, "round_type": 0, "is_test": True}

    def constant(*numbers: float) -> Constant:
        return Constant(np.array(numbers, np.float32))

    x = builder.feed(generator.uniform(-1, 1, (1, 3, 8, 8)).astype(np.float32))
    pair = {"Scale": constant(1.0), "ZeroPoint": constant(0.0)}
    x = builder.add(Case("quantize_linear", {"X": x, **pair}, {"Y": 1}, {**common, "quant_axis": -1}))[0]
    x = builder.add(Case("dequantize_linear", {"X": x, **pair}, {"Y": 1}, {**common, "quant_axis": -1}))[0]
    integers = Constant(generator.integers(-127, 128, (4, 3, 3, 3)).astype(np.int8))
    scales = {"Scale": constant(0.5, 0.6, 0.7, 0.8), "ZeroPoint": constant(0, 0, 0, 0)}
    weights = builder.add(Case("dequantize_linear", {"X": integers, **scales}, {"Y": 1}, {**common, "quant_axis": 0}))[
        0
    ]
    attributes = {"strides": [1, 1], "paddings": [1, 1], "dilations": [1, 1], "groups": 1}
    return builder.add(Case("conv2d", {"Input": x, "Filter": weights}, {"Output": 1}, attributes))


def main(folder: Path) -> None:
    make_networks.main(folder)
    programs = {name: lambda builder, cases=cases: add_all(builder, cases) for name, cases in groups().items()}
    for name, build in {
        **programs,
        "control_flow": add_control_flow,
        "arrays": add_arrays,
        "quantized": quantized,
    }.items():
        saved = save_program(build, folder / name)
        arrays = {f"0.input.{index}": array for index, array in enumerate(saved.inputs)}
        arrays |= {f"0.output.{index}": array for index, array in enumerate(saved.outputs)}
        np.savez_compressed(folder / f"{name}.npz", **arrays)
        print(name, "in both forms" if saved.json else "as .pdmodel alone")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
