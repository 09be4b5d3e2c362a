"""Matrix products, diagonals and inverses."""

import numpy as np

from tests.frameworks.tensorflow.raw_case import Case, fixed, integers, reals

_SQUARE = reals(2, 3, 3) + 4 * np.eye(3, dtype=np.float32)

CASES = [
    *(
        Case(name, [reals(2, 3, 4), reals(2, 4, 5)])
        for name in ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")
        if name != "BatchMatMulV3"
    ),
    Case("BatchMatMulV3", [reals(2, 3, 4), reals(2, 4, 5)], {"Tout": "tf.float32"}),
    Case("BatchMatMulV3", [integers(3, 4, dtype=np.int8), integers(4, 2, dtype=np.int8)], {"Tout": "tf.int32"}),
    Case("BatchMatMulV2", [reals(2, 4, 3), reals(5, 4)], {"adj_x": True, "adj_y": True}),
    Case("BatchMatMulV2", [integers(3, 4), integers(4, 2)]),
    *(
        Case("Einsum", [list(inputs)], {"equation": equation})
        for equation, *inputs in (
            ("ij,jk->ik", reals(2, 3), reals(3, 4)),
            ("abc,cd->abd", reals(2, 3, 4), reals(4, 5)),
            ("bij,bkj->bik", reals(2, 3, 4), reals(2, 5, 4)),
            ("...ij,...jk->...ik", reals(2, 3, 4), reals(2, 4, 2)),
            ("ij->ji", reals(2, 3)),
            ("bhd,hd->b", reals(2, 3, 4), reals(3, 4)),
        )
    ),
    Case("MatrixInverse", [_SQUARE]),
    Case("MatrixInverse", [_SQUARE[0]], {"adjoint": True}),
    Case("MatrixDeterminant", [_SQUARE], tolerance=1e-3),
    Case("MatrixSolve", [_SQUARE, reals(2, 3, 2)]),
    Case("MatrixSolve", [_SQUARE[0], reals(3, 2)], {"adjoint": True}),
    Case("Cross", [reals(2, 3), reals(2, 3)]),
    Case("MatrixDiag", [reals(3)]),
    Case("MatrixDiag", [reals(2, 3)]),
    Case("MatrixDiagPart", [reals(2, 3, 4)]),
    Case("MatrixDiagPart", [reals(4, 3)]),
    Case("MatrixSetDiag", [reals(2, 3, 4), reals(2, 3)]),
    *(
        Case(
            "MatrixDiagV2",
            [reals(*shape), fixed(k), fixed(rows), fixed(columns), fixed(9, np.float32)],
            is_static=k != 0,
        )
        for shape, k, rows, columns in (
            ((2, 3), 0, -1, -1),
            ((3,), 1, -1, -1),
            ((2,), -1, 3, 4),
            ((2, 3), [0, 1], -1, -1),
        )
    ),
    *(
        Case(
            "MatrixDiagV3",
            [reals(3, 3), fixed([-1, 1]), fixed(3), fixed(4), fixed(0, np.float32)],
            {"align": align},
            is_static=True,
        )
        for align in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")
    ),
    Case("MatrixDiagPartV2", [reals(3, 4), fixed(0), fixed(0, np.float32)]),
    Case("MatrixDiagPartV2", [reals(2, 3, 4), fixed([-1, 2]), fixed(5, np.float32)], is_static=True),
    *(
        Case("MatrixDiagPartV3", [reals(4, 3), fixed(k), fixed(5, np.float32)], {"align": align}, is_static=True)
        for align in ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")
        for k in ([-2, 1], 1)
    ),
    Case("MatrixSetDiagV2", [reals(2, 3, 4), reals(2, 3), fixed(0)]),
    *(
        Case("MatrixSetDiagV3", [reals(3, 4), reals(*shape), fixed(k)], {"align": align}, is_static=True)
        for align in ("RIGHT_LEFT", "LEFT_RIGHT")
        for k, shape in (([-1, 1], (3, 3)), (-1, (2,)), (0, (3,)))
    ),
    *(
        Case("MatrixBandPart", [reals(2, 4, 5), fixed(lower), fixed(upper)])
        for lower, upper in ((1, 0), (-1, 1), (0, -1))
    ),
    Case("MatrixBandPart", [integers(3, 3), np.int64(1), np.int64(1)]),
    Case("LogMatrixDeterminant", [_SQUARE], tolerance=1e-3),
    Case("Diag", [reals(3)]),
    Case("Diag", [reals(2, 3)]),
    Case("DiagPart", [reals(3, 3)]),
    Case("DiagPart", [reals(2, 3, 2, 3)]),
]
