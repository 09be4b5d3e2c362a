"""Operations that move elements: shapes, slices, indices, tiles and concatenations."""

from __future__ import annotations

import numpy as np

from hetero import ops
from hetero.conformance.operations.case import ALL, NUMBERS, OperationCase, cases

_ROWS, _MATRIX = (3, 5), (2, 3, 4)
_WIDE = {"axes of length 1": ((1, 5),), "empty": ((0, 5),), "large": ((1031, 5),)}
_DEEP = {"axes of length 1": ((1, 3, 4),), "large": ((30, 3, 4),)}
# The second axis has at least three elements.
_ANY_RANK = {
    "rank 6": ((2, 3, 1, 2, 1, 2),),
    "axes of length 1": ((1, 3, 1),),
    "empty": ((0, 3, 2),),
    "large": ((3, 31, 40),),
}
_MOVED = {
    "axes of length 1": ((1, 3, 4),),
    "moved axis of length 1": ((2, 1, 4),),
    "both moved axes of length 1": ((2, 1, 1),),
    "empty": ((2, 0, 4),),
    "large": ((2, 33, 65),),
}


def _depth_to_space(x: np.ndarray) -> np.ndarray:
    n, c, h, w = x.shape
    return x.reshape(n, 2, 2, c // 4, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c // 4, 2 * h, 2 * w)


def _scatter(x: np.ndarray) -> np.ndarray:
    result = x.copy()
    result[:, [2, 0]] = x[:, :2]
    return result


_INDICES = (0, 3, 0, 4)


def _scattering_extremum(name: str, formula: np.ufunc, *, with_element: bool) -> OperationCase:
    """Return the case of updates along rows, of which two meet, by their extremum with or without the element."""

    def expected(data: np.ndarray, updates: np.ndarray) -> np.ndarray:
        result = data.copy()
        for column, index in enumerate(_INDICES):
            is_first = not with_element and index not in _INDICES[:column]
            result[:, index] = updates[:, column] if is_first else formula(result[:, index], updates[:, column])
        return result

    reduction, rows = formula.__name__[:3], np.tile(np.array(_INDICES), (3, 1))
    return OperationCase(
        name, lambda data, updates: ops.ScatterElementsUpdate(data, rows, updates, 1, reduction, with_element),
        expected, (_ROWS, (3, 4)), NUMBERS, batched=False,
    )  # fmt: skip


MOVEMENT = (
    _scattering_extremum("ScatterElementsUpdate of the largest", np.maximum, with_element=True),
    _scattering_extremum("ScatterElementsUpdate of the smallest", np.minimum, with_element=True),
    _scattering_extremum("ScatterElementsUpdate of the largest update", np.maximum, with_element=False),
    *cases((_ROWS,), ALL, {
        "Pad": (lambda x: ops.Pad(x, [0, 1], [0, 2], "constant"), lambda x: np.pad(x, ((0, 0), (1, 2)))),
        "Slice": (lambda x: ops.Slice(x, [4], [0], [-2], [1]), lambda x: x[:, 4:0:-2]),
        "StridedSlice": (
            lambda x: ops.StridedSlice(x, [0, 1], [0, 5], [1, 2], [1, 0], [1, 0]), lambda x: x[:, 1:5:2],
        ),
        "Tile": (lambda x: ops.Tile(x, [2, 3]), lambda x: np.tile(x, (2, 3))),
        "Tile by ones": (lambda x: ops.Tile(x, [1, 1]), lambda x: x),
    }, _WIDE),
    *cases((_ROWS,), ALL, {
        "Unsqueeze": (lambda x: ops.Unsqueeze(x, [1]), lambda x: x[:, None]),
        "Unsqueeze of a negative axis": (lambda x: ops.Unsqueeze(x, [-1]), lambda x: x[..., None]),
        "Gather of a negative axis": (lambda x: ops.Gather(x, [0, 0], -1), lambda x: x[..., [0, 0]]),
    }, {**_ANY_RANK, "rank 1": ((7,),)}),
    *cases((_MATRIX,), ALL, {
        "Gather": (lambda x: ops.Gather(x, [2, 0], 1), lambda x: x[:, [2, 0]]),
        "Gather of negative indices": (lambda x: ops.Gather(x, [-1, -3], 1), lambda x: x[:, [-1, -3]]),
        "Gather of a scalar": (lambda x: ops.Gather(x, -2, 1), lambda x: x[:, -2]),
        "ScatterUpdate": (lambda x: ops.ScatterUpdate(x, [2, 0], ops.Gather(x, [0, 1], 1), 1), _scatter),
        "Roll": (lambda x: ops.Roll(x, [-1], [1]), lambda x: np.roll(x, -1, 1)),
        "Reverse": (lambda x: ops.Reverse(x, [1], "index"), lambda x: x[:, ::-1]),
        "ShapeOf": (lambda x: ops.ShapeOf(x, "i64"), lambda x: np.array(x.shape)),
    }, _ANY_RANK),
    *cases((_MATRIX,), ALL, {
        "Transpose": (lambda x: ops.Transpose(x, [0, 2, 1]), lambda x: x.transpose(0, 2, 1)),
        "Transpose of the first axis": (lambda x: ops.Transpose(x, [1, 0, 2]), lambda x: x.transpose(1, 0, 2)),
    }, _MOVED),
    *cases((_MATRIX,), ALL, {
        "Reshape": (lambda x: ops.Reshape(x, [0, -1], True), lambda x: x.reshape(len(x), 12)),
    }, _DEEP),
    OperationCase(
        "Transpose of rank 6", lambda x: ops.Transpose(x, [5, 0, 3, 1, 4, 2]), lambda x: x.transpose(5, 0, 3, 1, 4, 2),
        ((2, 3, 1, 2, 4, 2),), ALL, batched=False,
    ),
    OperationCase(
        "Broadcast", lambda x: ops.Broadcast(x, [2, 3, 5]), lambda x: np.broadcast_to(x, (2, 3, 5)), (_ROWS,), ALL,
        batched=False, more_shapes={"scalar": ((),), "rank 1": ((5,),), "axes of length 1": ((3, 1),)},
    ),
    OperationCase(
        "Concat", lambda a, b: ops.Concat([a, b], 1), lambda a, b: np.concatenate([a, b], 1), (_ROWS, (3, 2)), ALL,
        more_shapes={
            "empty": (_ROWS, (3, 0)), "rank 6": ((2, 1, 1, 2, 3, 2), (2, 3, 1, 2, 3, 2)),
            "large": ((3, 999), (3, 1031)),
        },
    ),
    OperationCase(
        "Concat of a negative axis", lambda a, b: ops.Concat([a, b], -1), lambda a, b: np.concatenate([a, b], -1),
        (_ROWS, (3, 2)), ALL, more_shapes={"rank 1": ((4,), (3,)), "empty": ((0,), (3,))},
    ),
    OperationCase(
        "DepthToSpace", lambda x: ops.DepthToSpace(x, "blocks_first", 2), _depth_to_space, ((2, 4, 3, 3),), ALL,
        more_shapes={"axes of length 1": ((1, 4, 1, 1),), "large": ((2, 64, 17, 5),)},
    ),
    OperationCase(
        "Split", lambda x: ops.Split(x, 1, 2), lambda x: tuple(np.split(x, 2, 1)), ((3, 4),), ALL,
        more_shapes={
            "rank 6": ((2, 4, 1, 2, 1, 2),), "axes of length 1": ((1, 2, 1),), "empty": ((3, 0),),
            "large": ((3, 1030),),
        },
    ),
    OperationCase("Squeeze", lambda x: ops.Squeeze(x, [1]), lambda x: x[:, 0], ((3, 1, 5),), ALL, more_shapes={
        "rank 6": ((2, 1, 1, 2, 1, 2),), "axes of length 1": ((1, 1, 1),), "empty": ((0, 1, 2),),
    }),
)  # fmt: skip
