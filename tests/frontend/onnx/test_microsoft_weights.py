"""Operators of the domain com.microsoft whose weights are packed, against ONNX Runtime."""

import ml_dtypes
import numpy as np
import pytest

from hetero.frontend.onnx import OnnxFrontEnd
from hetero.system.errors import FrontendError
from tests.frontend.onnx.compare import assert_close, run_onnxruntime, run_reference
from tests.frontend.onnx.test_microsoft_quantization import microsoft_model
from tests.frontend.onnx.test_operators import Known, normal
from tests.frontend.onnx.test_quantization import U8, case, codes


def n_bits(bits, columns, block_size, zeros=None, bias=False, lead=(3,), dtype=np.float32, rows=5):
    blocks = -(-columns // block_size)
    weights = codes(U8, rows, blocks, block_size * bits // 8)
    zero = {
        None: None,
        "packed": codes(U8, rows, -(-blocks * bits // 8)),
        "plain": (normal(rows, blocks) * 3).astype(dtype),
    }
    known = [
        Known(weights),
        Known(normal(rows, blocks).astype(dtype)),
        zero[zeros] if zeros is None else Known(zero[zeros]),
    ]
    more = [None, Known(normal(rows).astype(dtype))] if bias else []
    return case("MatMulNBits", normal(*lead, columns).astype(dtype), *known, *more, K=columns, N=rows, bits=bits,
                block_size=block_size)  # fmt: skip


def bnb4(kind, value, transposed, rows=6, columns=20):
    blocks = -(-rows * columns // 16)
    return case("MatMulBnb4", value, Known(codes(U8, (rows * columns + 1) // 2)), Known(np.abs(normal(blocks))),
                K=columns, N=rows, block_size=16, quant_type=kind, transB=transposed)  # fmt: skip


ROWS = np.int64([[0, 6, 3], [-1, 2, 2]])
TABLE = codes(U8, 7, 40)
NARROW = TABLE.astype(np.int8).astype(ml_dtypes.int4)
CASES = [
    *[n_bits(bits, columns, block_size, zeros, lead=lead)
      for bits, zeros in ((2, None), (2, "packed"), (4, None), (4, "packed"), (4, "plain"), (8, None), (8, "packed"))
      for columns, block_size, lead in ((70, 16, (3,)), (64, 32, (2, 3)))],
    n_bits(4, 70, 16, "packed", bias=True),
    *[bnb4(kind, normal(3, 20), 1) for kind in (0, 1)],
    *[case("GatherBlockQuantized", Known(NARROW), ROWS, Known(normal(7, 3)), *zero, block_size=16, quantize_axis=1,
           gather_axis=0) for zero in ([], [Known(codes(U8, 7, 3).astype(np.int8).astype(ml_dtypes.int4))])],
    case("GatherBlockQuantized", Known(NARROW), ROWS, Known(normal(1, 40)), block_size=16, quantize_axis=0,
         gather_axis=-1),
    *[case("GatherBlockQuantized", Known(TABLE), ROWS, Known(normal(7, 80 * 4 // bits // 16)), *zero, block_size=16,
           bits=bits) for bits, zero in ((4, []), (4, [Known(codes(U8, 7, 3))]))],
    case("MatMulInteger16", codes(np.int16, 3, 4) // 9, codes(np.int16, 4, 2) // 9),
]  # fmt: skip


@pytest.mark.parametrize("item", CASES, ids=str)
def test_like_onnxruntime(item):
    proto, inputs = microsoft_model(item, dynamic=False)
    found = run_reference(OnnxFrontEnd().convert(proto.SerializeToString()), inputs)
    assert_close(found, run_onnxruntime(proto, inputs), 1e-6)


@pytest.mark.parametrize("kind", [0, 1], ids=["fp4", "nf4"])
def test_weights_that_are_not_transposed(kind):
    # ONNX Runtime reads beyond its weights here: those that come out must be the same either way.
    item = bnb4(kind, np.eye(20, dtype=np.float32), 1)
    other = item._replace(
        inputs=(np.eye(6, dtype=np.float32), *item.inputs[1:]), attributes=item.attributes | {"transB": 0}
    )
    transposed, plain = (
        run_reference(OnnxFrontEnd().convert(proto), inputs)["y0"]
        for proto, inputs in (microsoft_model(case, dynamic=False) for case in (item, other))
    )
    assert plain.shape == (6, 20)
    np.testing.assert_array_equal(plain, transposed.T)


REFUSED = [
    (n_bits(4, 64, 16)._replace(attributes=dict(K=64, N=5, bits=5, block_size=16)), "bits must be 2, 4 or 8, but is 5"),
    (n_bits(4, 64, 16)._replace(attributes=dict(K=64, N=5, bits=4, block_size=16, weight_prepacked=1)), "prepacked"),
    (case("GatherBlockQuantized", Known(NARROW), ROWS, Known(normal(7, 3)), block_size=16, quantize_axis=0), "are 0"),
    (case("MatMulBnb4", normal(3, 4), codes(U8, 8), normal(1), K=4, N=4, block_size=16, quant_type=0), "must be known"),
]


@pytest.mark.parametrize(("item", "message"), REFUSED, ids=str)
def test_refused(item, message):
    with pytest.raises(FrontendError, match=message):
        OnnxFrontEnd().convert(microsoft_model(item, dynamic=False)[0])
