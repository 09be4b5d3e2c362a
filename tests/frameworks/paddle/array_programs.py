"""A program whose loop writes and reads arrays of tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from paddle.base import core

from tests.frameworks.paddle.case_inputs import FLOAT32, INT64, STEP_SCOPES
from tests.frameworks.paddle.programs import Case, ProgramBuilder

_ARRAY = core.VarDesc.VarType.DENSE_TENSOR_ARRAY


def add_arrays(builder: ProgramBuilder) -> Sequence[Any]:
    """Write the multiples of a matrix into an array that is empty before a loop, and their sum into one that is not."""
    main, block = builder.main, builder.block
    x = builder.feed(np.arange(6, dtype=np.float32).reshape(2, 3))
    first, second, limit = (_constant(builder, number) for number in (0, 2, 4))
    at = block.create_var(name="at", dtype="int64", shape=[1])
    going = block.create_var(name="going", dtype="bool", shape=[1])
    grown, changed = (block.create_var(name=name, dtype="float32", type=_ARRAY) for name in ("grown", "changed"))
    _append(block, "assign", {"X": first}, at)
    _append(block, "write_to_array", {"X": x, "I": first}, changed)
    _append(block, "less_than", {"X": at, "Y": limit}, going)
    body = main._create_block()
    number = body.create_var(name="number", dtype="float32", shape=[1])
    product, before, total = (
        body.create_var(name=name, dtype="float32", shape=[2, 3]) for name in ("product", "before", "total")
    )
    _append(body, "cast", {"X": at}, number, in_dtype=INT64, out_dtype=FLOAT32)
    _append(body, "elementwise_mul", {"X": x, "Y": number}, product, axis=-1)
    _append(body, "write_to_array", {"X": product, "I": at}, grown)
    _append(body, "read_from_array", {"X": changed, "I": first}, before)
    _append(body, "elementwise_add", {"X": before, "Y": product}, total, axis=-1)
    _append(body, "write_to_array", {"X": total, "I": first}, changed)
    _append(body, "increment", {"X": at}, at, step=1.0)
    _append(body, "less_than", {"X": at, "Y": limit}, going)
    main._rollback()
    scopes = block.create_var(name="scopes", type=STEP_SCOPES)
    block.append_op(
        type="while", inputs={"X": [x, at, limit], "Condition": [going]},
        outputs={"Out": [at, grown, changed], "StepScopes": [scopes]}, attrs={"sub_block": body, "is_test": True},
    )  # fmt: skip
    results = [block.create_var(name=f"result_{index}", dtype="float32" if index else "int64") for index in range(5)]
    _append(block, "lod_array_length", {"X": grown}, results[0])
    _append(block, "read_from_array", {"X": grown, "I": second}, results[1])
    _append(block, "read_from_array", {"X": changed, "I": first}, results[2])
    for result, (axis, is_stack) in zip(results[3:], ((0, True), (1, False))):
        places = block.create_var(name=f"{result.name}_places", dtype="int32")
        block.append_op(
            type="tensor_array_to_tensor", inputs={"X": [grown]}, outputs={"Out": [result], "OutIndex": [places]},
            attrs={"axis": axis, "use_stack": is_stack},
        )  # fmt: skip
    return results


def _constant(builder: ProgramBuilder, number: float) -> Any:
    attributes = {"shape": [1], "dtype": INT64, "value": float(number)}
    return builder.add(Case("fill_constant", {}, {"Out": 1}, attributes))[0]


def _append(block: Any, kind: str, inputs: dict[str, Any], output: Any, **attributes: Any) -> None:
    ports = {port: [value] for port, value in inputs.items()}
    block.append_op(type=kind, inputs=ports, outputs={"Out": [output]}, attrs=attributes)
