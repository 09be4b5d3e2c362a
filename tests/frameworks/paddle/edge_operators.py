"""Cases of operators at their edges: scalars, NaN, infinity, integers, negative axes, empty and irregular arguments."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from tests.frameworks.paddle.case_inputs import FLOAT32, INT64, case, integers, real, vector, weights
from tests.frameworks.paddle.programs import Case, Constant


def numbers() -> Iterator[Case]:
    scalar = np.array(1.5, np.float32)
    for name in ("relu", "gelu", "softmax", "reciprocal"):
        yield case(name, {"X": scalar})
    yield case("elementwise_add", {"X": scalar, "Y": real(2, 3)}, axis=-1)
    yield case("reduce_sum", {"X": scalar}, dim=[], keep_dim=False, reduce_all=True)
    yield case("argsort", {"X": scalar}, "Out Indices", axis=-1, descending=True)
    yield case("top_k_v2", {"X": scalar}, "Out Indices", k=1, axis=-1, largest=True, sorted=True)
    irregular = np.array([np.nan, 1, np.inf, -np.inf, 0, 2], np.float32)
    others = np.array([1, np.nan, 2, 3, np.nan, -2], np.float32)
    for name in ("fmax", "fmin", "max", "mod"):
        yield case(f"elementwise_{name}", {"X": irregular, "Y": others}, axis=-1)
    for name in ("log1p", "hard_shrink", "isnan_v2", "sign", "softplus"):
        yield case(name, {"X": irregular})
    x, y = np.array([-7, 7, -6, 0], np.int64), np.array([2, -2, 3, -5], np.int64)
    for name, dtype in product(("mod", "floordiv"), ("int64", "float32")):
        yield case(f"elementwise_{name}", {"X": x.astype(dtype), "Y": y.astype(dtype)}, axis=-1)
    tenths = {"X": np.array([1, 2, 3], np.float32), "Y": np.array([0.1, 0.2, 0.1], np.float32)}
    yield case("elementwise_floordiv", tenths, axis=-1)
    for name in ("add", "mul"):
        yield case(f"elementwise_{name}", {"X": real(6) > 0, "Y": real(6) > 0}, axis=-1)
    for name in ("logical_and", "logical_or"):
        yield case(name, {"X": integers(2, 6), "Y": integers(2, 6)})
    for name in ("exp", "expm1", "log2"):
        yield case(name, {"X": integers(9, 4, low=1)})
    zeros = np.array([0, -0.0, 0, -0.0, 1, 2], np.float32)
    yield case("atan2", {"X1": zeros, "X2": np.array([-1, -1, 1, 0, 0, -3], np.float32)})
    yield case("mish", {"X": real(8)}, threshold=1.0)
    yield case("prelu", {"X": real(4), "Alpha": weights(1)}, mode="all", data_format="NCHW")
    yield case("swiglu", {"x": real(2, 6)}, "out")
    yield case("swiglu", {"x": real(2, 3), "y": real(2, 3)}, "out")


def elements() -> Iterator[Case]:
    x = real(4, 5, 6)
    common = {"dtype": FLOAT32, "steps": [1]}
    one = {"axes": [0], "starts": [1], "ends": [3], "decrease_axes": []}
    yield case("set_value", {"Input": x, "ValueTensor": real(2, 1, 5, 6)}, none_axes=[1], shape=[], **one, **common)
    yield case("set_value", {"Input": x}, axes=[0], starts=[-1], ends=[-4], steps=[-1], decrease_axes=[], none_axes=[],
               shape=[5, 1], values=[1.0, 2.0, 3.0, 4.0, 5.0], dtype=FLOAT32)  # fmt: skip
    yield case("set_value", {"Input": x, "ValueTensor": real(5)}, axes=[0, 2], starts=[2, 0], ends=[3, 1], steps=[1, 1],
               decrease_axes=[0, 2], none_axes=[], shape=[], dtype=FLOAT32)  # fmt: skip
    bounds = {f"{name}sTensorList": [np.array([at], np.int64)] for name, at in (("Start", 1), ("End", 3), ("Step", 1))}
    yield case("set_value", {"Input": x, **bounds}, axes=[0], starts=[], ends=[], steps=[], decrease_axes=[],
               none_axes=[], shape=[1], values=[7.0], dtype=FLOAT32)  # fmt: skip
    table = real(4, 5)
    rows, columns = np.array([1, 1, -1]), np.array([0, 0, -2])
    for accumulate in (True, False):
        for indices, shape in (
            ([rows, columns], (3,)), ([table > 0], ()), ([real(4) > 0], (5,)),
            ([np.array([[1], [2]]), np.array([0, 3])], (2, 2)),
        ):  # fmt: skip
            updates = np.full(shape, 0.5, np.float32)
            yield case("index_put", {"x": table, "indices": indices, "value": updates}, "out", accumulate=accumulate)
    for axis in (0, -1):
        updates = real(3, 5) if axis == 0 else real(4, 3)
        yield case("index_add", {"X": table, "Index": np.array([1, 1, 3]), "AddValue": updates}, axis=axis)
    yield case("take_along_axis", {"Input": real(3, 4, 5), "Index": integers(4, 2, 2, 5)}, "Result", Axis=1)
    yield case("masked_select", {"X": table, "Mask": real(5) > 0}, "Y")
    yield case("masked_select", {"X": real(4, 1), "Mask": table > 0}, "Y")
    yield case("expand_v2", {"X": real(3, 1)}, shape=[3, 0])
    sections = [np.array([2], np.int32), np.array([4], np.int32)]
    yield case("split", {"X": real(4, 6), "SectionsTensorList": sections}, {"Out": 2}, num=0, axis=1, sections=[-1, -1])
    yield case("triu_indices", {}, "out", row=3, col=4, offset=1, dtype=INT64)


def layers() -> Iterator[Case]:
    pool = {"ksize": [3, 2], "strides": [2, 2], "paddings": [0, 0], "global_pooling": False, "ceil_mode": False,
            "exclusive": False, "adaptive": False, "data_format": "NCHW"}  # fmt: skip
    image = real(2, 3, 8, 9)
    for changed in ({"padding_algorithm": "SAME"}, {"padding_algorithm": "EXPLICIT", "paddings": [1, 0, 0, 1]}):
        yield case("pool2d", {"X": image}, pooling_type="avg", **{**pool, **changed})
    yield case("temporal_shift", {"X": real(4, 2, 3, 8)}, seg_num=2, shift_ratio=0.25, data_format="NHWC")
    sizes = {"scale": [], "out_d": -1, "out_h": 1, "out_w": 4}
    yield case("bilinear_interp_v2", {"X": image}, interp_method="bilinear", align_corners=False, align_mode=0,
               data_layout="NCHW", **sizes)  # fmt: skip
    columns = {"kernel_sizes": [2, 3], "paddings": [1, 0, 0, 0], "dilations": [1, 1]}
    yield case("fold", {"X": real(2, 18, 12)}, "Y", output_sizes=[5, 6], strides=[2, 1], **columns)
    parameters = [weights(16, 3), weights(16, 4), weights(16), weights(16)]
    inputs = {"Input": real(5, 2, 3), "PreState": [real(1, 2, 4), real(1, 2, 4)], "WeightList": parameters}
    yield case("rnn", {**inputs, "SequenceLength": np.array([0, 5], np.int32)},
               {"Out": 1, "State": 2, "DropoutState": 1, "Reserve": 1}, mode="LSTM", num_layers=1, is_bidirec=False,
               hidden_size=4, input_size=3, is_test=True, dropout_prob=0.0, seed=0)  # fmt: skip
    scales = {"Scale": Constant(real(3, low=0.1, high=1)), "ZeroPoint": Constant(np.zeros(3, np.float32))}
    for bits, largest, observer in ((4, 7, False), (4, 127, False), (8, 127, True)):
        common = {"quant_axis": 0, "bit_length": bits, "round_type": 0, "is_test": True, "qmin": -largest - 1,
                  "qmax": largest, "only_observer": observer}  # fmt: skip
        yield case("quantize_linear", {"X": real(3, 4), **scales}, "Y", **common)
        yield case("dequantize_linear", {"X": np.round(real(3, 4) * 50), **scales}, "Y", **common)
    state = {name: vector(1, dtype="float32") for name in ("InState", "InAccum")}
    yield case("moving_average_abs_max_scale", {"X": real(3, 4), **state}, "Out OutScale", is_test=True)
