"""Cases of operators on tensors in general: arithmetic, shapes, reductions, selection."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from tests.frameworks.paddle.case_inputs import (
    BOOL,
    FLOAT32,
    FLOAT64,
    GENERATOR,
    INT32,
    INT64,
    case,
    integers,
    real,
    vector,
    weights,
)
from tests.frameworks.paddle.programs import Case, Constant


def binary() -> Iterator[Case]:
    x, y = real(2, 3, 4), real(2, 3, 4, low=0.5)
    for name in ("add", "sub", "mul", "div", "max", "min", "pow", "mod", "floordiv", "fmax", "fmin", "heaviside"):
        op_type = f"elementwise_{name}"
        yield case(op_type, {"X": np.abs(x) + 0.1, "Y": y}, axis=-1)
        yield case(op_type, {"X": np.abs(x) + 0.1, "Y": Constant(y[0, 0])}, axis=-1)
        if name in ("add", "sub", "mul", "div"):
            yield case(op_type, {"X": x, "Y": Constant(y[0, :, 0])}, axis=1)
            yield case(op_type, {"X": x, "Y": Constant(y[:, :, 0])}, axis=0)
    for name in ("add", "sub", "mul", "div", "floordiv", "mod", "max", "min"):
        for dtype in ("int32", "int64"):
            both = {"X": integers(20, 3, 4, low=-20, dtype=dtype), "Y": integers(7, 3, 4, low=1, dtype=dtype)}
            yield case(f"elementwise_{name}", both, axis=-1)
    for name in ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal"):
        yield case(name, {"X": integers(3, 3, 4), "Y": integers(3, 3, 4)}, axis=-1)
        yield case(name, {"X": x, "Y": y[0]}, axis=-1)
    for name in ("logical_and", "logical_or", "logical_xor"):
        yield case(name, {"X": x > 0, "Y": y > 1})
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        yield case(name, {"X": integers(99, 5, dtype="int32"), "Y": integers(99, 5, dtype="int32")})
    yield case("atan2", {"X1": real(20), "X2": real(20)})
    yield case("sum", {"X": [x, y, x]})
    yield case("sum", {"X": [x]})
    yield case("lerp", {"X": x, "Y": y, "Weight": real(2, 3, 4)})
    yield case("dot", {"X": real(3, 4), "Y": real(3, 4)})
    yield case("kron", {"X": real(2, 3), "Y": real(3, 2)})
    for name in ("isclose", "allclose"):
        yield case(name, {"Input": x, "Other": x + np.float32(1e-4)}, rtol="1e-3", atol="1e-5")
    yield case("equal_all", {"X": x, "Y": x})


def unary() -> Iterator[Case]:
    x = real(3, 4)
    for name in ("abs", "ceil", "floor", "cos", "sin", "tan", "cosh", "sinh", "exp", "erf", "sign", "square", "tanh",
                 "atan", "asinh", "sigmoid", "relu", "expm1", "silu", "logsigmoid", "tanh_shrink", "softsign",
                 "assign", "share_data", "reciprocal"):  # fmt: skip
        yield case(name, {"X": x})
    for name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "acosh"):
        yield case(name, {"X": np.abs(x) + 1.1})
    for name in ("acos", "asin", "atanh"):
        yield case(name, {"X": real(3, 4, low=-0.9, high=0.9)})
    for name in ("isnan_v2", "isinf_v2", "isfinite_v2"):
        yield case(name, {"X": np.array([1, np.nan, np.inf, -np.inf], np.float32)})
    yield case("logical_not", {"X": x > 0})
    yield case("bitwise_not", {"X": integers(9, 4, dtype="int32")})
    yield case("round", {"X": np.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.3, -0.7], np.float32)})
    yield case("trunc", {"X": x * 3})
    yield case("logit", {"X": real(4, low=0.05, high=0.95)}, eps=1e-6)
    for factor in (2.0, 0.5, -1.0):
        yield case("pow", {"X": np.abs(x) + 0.1}, factor=factor)
    yield case("clip", {"X": x}, min=-0.5, max=1.0)
    yield case(
        "clip", {"X": x, "Min": vector(-1, dtype="float32"), "Max": vector(0.5, dtype="float32")}, min=0.0, max=0.0
    )
    yield case("clip", {"X": integers(9, 4, dtype="int32")}, min=2.0, max=5.0)
    for scale, bias, after in ((2.0, 1.0, True), (2.0, 1.0, False), (1.0, 0.0, True), (-0.5, 0.0, True)):
        yield case("scale", {"X": x}, scale=scale, bias=bias, bias_after_scale=after)
    yield case("scale", {"X": integers(9, 4)}, scale=2.0, bias=1.0, bias_after_scale=True)
    yield case("scale", {"X": x, "ScaleTensor": vector(3, dtype="float32")}, bias=0.5, bias_after_scale=True)
    yield case("increment", {"X": real(1)}, step=2.0)
    for source, target in product((x, integers(5, 3), x > 0), (BOOL, INT32, INT64, FLOAT32, FLOAT64)):
        yield case("cast", {"X": source}, in_dtype=FLOAT32, out_dtype=target)
    yield case("clip_by_norm", {"X": x}, max_norm=1.0)
    yield case(
        "dropout", {"X": x}, "Out Mask", is_test=True, dropout_prob=0.3, dropout_implementation="upscale_in_train"
    )
    yield case(
        "dropout", {"X": x}, "Out Mask", is_test=True, dropout_prob=0.3, dropout_implementation="downgrade_in_infer"
    )


def reductions() -> Iterator[Case]:
    x = real(2, 3, 4)
    for name, keep in product(("sum", "mean", "max", "min", "prod", "amax", "amin"), (True, False)):
        yield case(f"reduce_{name}", {"X": x}, dim=[1], keep_dim=keep, reduce_all=False)
        yield case(f"reduce_{name}", {"X": x}, dim=[0, -1], keep_dim=keep, reduce_all=False)
        yield case(f"reduce_{name}", {"X": x}, dim=[], keep_dim=keep, reduce_all=True)
    for name, keep in product(("any", "all"), (True, False)):
        yield case(f"reduce_{name}", {"X": x > -1}, dim=[1], keep_dim=keep, reduce_all=False)
        yield case(f"reduce_{name}", {"X": x > -1}, dim=[], keep_dim=keep, reduce_all=True)
    for dtype in ("int32", "int64"):
        yield case("reduce_sum", {"X": integers(9, 2, 3, dtype=dtype)}, dim=[1], keep_dim=False, reduce_all=False)
        yield case("reduce_max", {"X": integers(9, 2, 3, dtype=dtype)}, dim=[1], keep_dim=False, reduce_all=False)
    yield case("mean", {"X": x})
    yield case("logsumexp", {"X": x}, axis=[1], keepdim=False, reduce_all=False)
    yield case("logsumexp", {"X": x}, axis=[0, 2], keepdim=True, reduce_all=False)
    yield case("logsumexp", {"X": x}, axis=[0], keepdim=False, reduce_all=True)
    for order, keep in product((0.0, 1.0, 2.0, 3.0, float("inf"), float("-inf")), (True, False)):
        yield case("p_norm", {"X": x}, porder=order, axis=1, keepdim=keep, asvector=False, epsilon=1e-12)
    yield case("p_norm", {"X": x}, porder=2.0, axis=-1, keepdim=False, asvector=True, epsilon=1e-12)
    yield case("frobenius_norm", {"X": x}, dim=[1, 2], keep_dim=False, reduce_all=False)
    yield case("norm", {"X": x}, "Out Norm", axis=1, epsilon=1e-10)
    for exclusive, reverse in product((True, False), (True, False)):
        yield case("cumsum", {"X": x}, axis=1, exclusive=exclusive, reverse=reverse, flatten=False)
    yield case("cumsum", {"X": x}, axis=-1, flatten=True)
    yield case("cumprod", {"X": x}, dim=1)
    yield case("size", {"Input": x})
    for name in ("diagonal", "trace"):
        yield case(name, {"Input": x}, offset=1, axis1=1, axis2=2)


def shapes() -> Iterator[Case]:
    x = real(2, 3, 4)
    yield case("reshape2", {"X": x}, "Out XShape", shape=[6, 4])
    yield case("reshape2", {"X": x}, "Out XShape", shape=[0, -1])
    yield case("reshape2", {"X": x, "Shape": vector(3, 8, dtype="int32")}, "Out XShape", shape=[3, 8])
    yield case("reshape2", {"X": x, "ShapeTensor": [vector(4, dtype="int32"), vector(6, dtype="int32")]}, "Out XShape",
               shape=[4, 6])  # fmt: skip
    for first, last in ((0, -1), (1, 2), (0, 1)):
        yield case("flatten_contiguous_range", {"X": x}, "Out XShape", start_axis=first, stop_axis=last)
    yield case("transpose2", {"X": x}, "Out XShape", axis=[2, 0, 1])
    yield case("squeeze2", {"X": real(1, 3, 1)}, "Out XShape", axes=[0])
    yield case("squeeze2", {"X": real(1, 3, 1)}, "Out XShape", axes=[-1, 1])
    yield case("squeeze2", {"X": real(1, 3, 1)}, "Out XShape", axes=[])
    yield case("unsqueeze2", {"X": x}, "Out XShape", axes=[0])
    yield case("unsqueeze2", {"X": x}, "Out XShape", axes=[1, 3])
    yield case("unsqueeze2", {"X": x}, "Out XShape", axes=[-1])
    yield case("expand_v2", {"X": real(1, 3, 1)}, shape=[2, -1, 4])
    yield case("expand_v2", {"X": real(3, 1)}, shape=[2, 3, 4])
    yield case("expand_v2", {"X": real(3, 1), "Shape": vector(3, 2, dtype="int32")}, shape=[])
    yield case("expand_as_v2", {"X": real(3, 1), "Y": x}, target_shape=[2, 3, 4])
    yield case("expand_as_v2", {"X": real(3, 1)}, target_shape=[2, 3, 4])
    yield case("tile", {"X": x}, repeat_times=[1, 2, 3])
    yield case("tile", {"X": real(3)}, repeat_times=[2, 2])
    yield case("tile", {"X": real(3), "RepeatTimes": vector(2, dtype="int32")}, repeat_times=[])
    for axis in ([0], [1, 2], [-1]):
        yield case("flip", {"X": x}, axis=axis)
    yield case("reverse", {"X": x}, axis=[1])
    yield case("roll", {"X": x}, shifts=[1], axis=[1])
    yield case("roll", {"X": x}, shifts=[1, -2], axis=[0, 2])
    yield case("roll", {"X": x}, shifts=[2], axis=[])
    yield case("shape", {"Input": x})
    for layout in ("NCHW", "NHWC"):
        yield case("pixel_shuffle", {"X": real(2, 4, 3, 4)}, upscale_factor=2, data_format=layout)
        yield case("pixel_unshuffle", {"X": real(2, 4, 2, 4) if layout == "NCHW" else real(2, 2, 4, 3)},
                   downscale_factor=2, data_format=layout)  # fmt: skip
        yield case("channel_shuffle", {"X": real(1, 4, 2, 4)}, groups=2, data_format=layout)
    yield case("shuffle_channel", {"X": real(1, 4, 2, 2)}, group=2)
    yield case("temporal_shift", {"X": real(4, 8, 2, 2)}, seg_num=2, shift_ratio=0.25, data_format="NCHW")


def joins() -> Iterator[Case]:
    x, y = real(2, 3), real(2, 3)
    for axis in (0, 1, -1):
        yield case("concat", {"X": [x, y]}, axis=axis)
        yield case("stack", {"X": [x, y]}, "Y", axis=axis)
    yield case("concat", {"X": [x, y], "AxisTensor": vector(1, dtype="int32")}, axis=0)
    yield case("split", {"X": real(4, 6)}, {"Out": 3}, num=3, axis=1, sections=[])
    yield case("split", {"X": real(4, 6)}, {"Out": 2}, num=0, axis=1, sections=[2, 4])
    yield case("split", {"X": real(4, 6)}, {"Out": 3}, num=0, axis=1, sections=[1, -1, 2])
    yield case("split", {"X": real(4, 6), "AxisTensor": vector(1, dtype="int32")}, {"Out": 2}, num=2, sections=[])
    yield case("unstack", {"X": real(3, 2)}, {"Y": 3}, axis=0, num=3)
    yield case("unbind", {"X": real(3, 2)}, {"Out": 2}, axis=1)
    yield case("meshgrid", {"X": [real(2), real(3)]}, {"Out": 2})
    yield case("partial_concat", {"X": [real(2, 4), real(2, 4)]}, start_index=1, length=2)
    yield case("partial_sum", {"X": [real(2, 4), real(2, 4)]}, start_index=1, length=-1)


def slices() -> Iterator[Case]:
    x = real(4, 5, 6)
    for axes, starts, ends, decrease in (
        ([0], [1], [3], []), ([1, 2], [-3, 0], [-1, 100], []), ([0], [2], [3], [0]),
        ([0, 1], [1, -1], [2, 2**31 - 1], [0, 1]),
    ):  # fmt: skip
        flags = [1] * len(axes)
        yield case(
            "slice", {"Input": x}, axes=axes, starts=starts, ends=ends, decrease_axis=decrease, infer_flags=flags
        )
    yield case("slice", {"Input": x, "StartsTensor": vector(1, dtype="int32"), "EndsTensor": vector(3, dtype="int32")},
               axes=[1], starts=[], ends=[], decrease_axis=[], infer_flags=[-1])  # fmt: skip
    for starts, ends, strides in (([0], [4], [2]), ([-1], [-10], [-1]), ([3], [0], [-2])):
        yield case("strided_slice", {"Input": x}, axes=[1], starts=starts, ends=ends, strides=strides, infer_flags=[1],
                   decrease_axis=[])  # fmt: skip
    common = {"dtype": FLOAT32, "none_axes": []}
    yield case("set_value", {"Input": x}, axes=[0], starts=[1], ends=[3], steps=[1], decrease_axes=[], shape=[1],
               values=[7.0], **common)  # fmt: skip
    yield case("set_value", {"Input": x}, axes=[0, 2], starts=[1, 0], ends=[2, 6], steps=[1, 2], decrease_axes=[0],
               shape=[1], values=[7.0], **common)  # fmt: skip
    yield case("set_value", {"Input": x, "ValueTensor": real(5, 6)}, axes=[0], starts=[2], ends=[3], steps=[1],
               decrease_axes=[0], shape=[], **common)  # fmt: skip
    yield case("set_value", {"Input": x, "ValueTensor": real(4, 6)}, axes=[1], starts=[2], ends=[3], steps=[1],
               decrease_axes=[1], shape=[], **common)  # fmt: skip


def padding() -> Iterator[Case]:
    x = real(2, 3, 4, 5)
    yield case("pad", {"X": x}, paddings=[0, 0, 1, 0, 2, 1, 0, 3], pad_value=1.5)
    image = real(1, 2, 3, 4, 5)
    for mode, layout in product(("constant", "reflect", "replicate", "circular"), ("NCDHW", "NDHWC")):
        yield case("pad3d", {"X": image}, paddings=[1, 2, 1, 0, 0, 1], mode=mode, value=0.5, data_format=layout)


def creation() -> Iterator[Case]:
    x = real(2, 3)
    for dtype, value in ((FLOAT32, 1.5), (INT64, 3.0), (INT32, 2.0), (BOOL, 1.0)):
        yield case("fill_constant", {}, shape=[2, 3], dtype=dtype, value=value, str_value="")
        yield case("fill_any_like", {"X": x}, dtype=dtype, value=value)
    yield case("fill_constant", {}, shape=[2], dtype=INT64, value=-7.0, str_value="-7")
    yield case("fill_constant", {"ShapeTensor": vector(2, 2, dtype="int32")}, shape=[], dtype=FLOAT32, value=2.0)
    yield case("fill_any_like", {"X": x}, dtype=-1, value=0.5)
    yield case("fill_constant_batch_size_like", {"Input": x}, shape=[-1, 4], dtype=FLOAT32, value=2.0, str_value="",
               input_dim_idx=0, output_dim_idx=0)  # fmt: skip
    yield case("assign_value", {}, shape=[2, 2], dtype=FLOAT32, values=[1.0, 2.0, 3.0, 4.0])
    yield case("assign_value", {}, shape=[3], dtype=INT64, values=[1, 2, 3])
    yield case("range", {"Start": vector(0), "End": vector(5), "Step": vector(2)})
    yield case("range", {name: vector(number, dtype="float32") for name, number in
                         (("Start", 0), ("End", 1), ("Step", 0.25))})  # fmt: skip
    yield case("linspace", {"Start": vector(0, dtype="float32"), "Stop": vector(2, dtype="float32"),
                            "Num": vector(5, dtype="int32")}, dtype=FLOAT32)  # fmt: skip
    yield case("eye", {}, num_rows=3, num_columns=4, dtype=FLOAT32)
    yield case("eye", {}, num_rows=3, num_columns=-1, dtype=INT64)
    for lower, offset in product((True, False), (-1, 0, 2)):
        yield case("tril_triu", {"X": real(2, 4, 5)}, lower=lower, diagonal=offset)
    yield case("tril_indices", {}, "out", rows=3, cols=4, offset=0, dtype=INT64)
    yield case("diag_v2", {"X": real(3)}, offset=1, padding_value=0.5)
    yield case("diag_v2", {"X": real(3, 4)}, offset=-1, padding_value=0.0)


def indexing() -> Iterator[Case]:
    x, index = real(4, 5), integers(4, 3)
    yield case("gather", {"X": x, "Index": index}, axis=0)
    yield case("gather", {"X": x, "Index": index, "Axis": vector(1, dtype="int32")}, axis=0)
    yield case("gather_nd", {"X": x, "Index": integers(4, 3, 2)})
    yield case("gather_nd", {"X": x, "Index": integers(4, 3, 1)})
    for axis in (0, 1):
        yield case("index_select", {"X": x, "Index": index}, dim=axis)
        yield case("take_along_axis", {"Input": x, "Index": integers(4, 4, 5)}, "Result", Axis=axis)
    yield case("index_sample", {"X": x, "Index": integers(5, 4, 2)})
    places = np.stack([GENERATOR.permutation(4) for _ in range(5)], 1).astype(np.int64)
    for reduction in ("assign", "add", "mul"):
        yield case("put_along_axis", {"Input": x, "Index": places, "Value": real(4, 5)}, "Result", Axis=0,
                   Reduce=reduction, include_self=True)  # fmt: skip
    yield case("scatter", {"X": x, "Ids": np.array([2, 0]), "Updates": real(2, 5)}, overwrite=True)
    yield case("scatter", {"X": x, "Ids": np.array([2, 2, 0]), "Updates": real(3, 5)}, overwrite=False)
    yield case("scatter_nd_add", {"X": x, "Index": integers(4, 3, 1), "Updates": real(3, 5)})
    yield case("masked_select", {"X": x, "Mask": x > 0}, "Y")
    yield case("where", {"Condition": x > 0, "X": x, "Y": real(4, 5)})
    yield case("where_index", {"Condition": x > 0})
    yield case("lookup_table_v2", {"Ids": index, "W": weights(4, 6)}, padding_idx=-1)
    yield case("lookup_table_v2", {"Ids": integers(4, 2, 3), "W": weights(4, 6)}, padding_idx=2)
    yield case("one_hot_v2", {"X": index}, depth=5, dtype=FLOAT32, allow_out_of_range=False)
    yield case("one_hot_v2", {"X": index, "depth_tensor": vector(6, dtype="int32")}, depth=-1, dtype=FLOAT32)
    yield case("multiplex", {"X": [real(3, 2), real(3, 2)], "Ids": integers(2, 3, 1, dtype="int32")})
    yield case("unfold", {"X": real(2, 3, 6, 6)}, "Y", kernel_sizes=[3, 3], strides=[1, 2], paddings=[1, 1, 1, 1],
               dilations=[1, 1])  # fmt: skip


def sorting() -> Iterator[Case]:
    x = GENERATOR.permutation(24).astype(np.float32).reshape(2, 3, 4)
    for axis, largest in product((-1, 1), (True, False)):
        yield case("top_k_v2", {"X": x}, "Out Indices", k=2, axis=axis, largest=largest, sorted=True)
        yield case("argsort", {"X": x}, "Out Indices", axis=axis, descending=largest)
    yield case(
        "top_k_v2", {"X": x, "K": vector(3, dtype="int32")}, "Out Indices", k=1, axis=-1, largest=True, sorted=True
    )
    for kind, keep, axis in product(("arg_max", "arg_min"), (True, False), (0, -1)):
        yield case(kind, {"X": x}, axis=axis, keepdims=keep, flatten=False, dtype=INT64)
    yield case("arg_max", {"X": x}, axis=0, keepdims=False, flatten=True, dtype=INT32)
    yield case("kthvalue", {"X": x}, "Out Indices", k=2, axis=1, keepdim=False)
    yield case("kthvalue", {"X": x}, "Out Indices", k=1, axis=-1, keepdim=True)
    numbers = np.array([3, 1, 2, 1, 3], np.int64)
    yield case("unique", {"X": numbers}, "Out Indices Index Counts", is_sorted=True, return_index=True,
               return_inverse=True, return_counts=True, axis=[], dtype=INT64)  # fmt: skip
    yield case("unique", {"X": integers(2, 5, 2)}, "Out Indices Index Counts", is_sorted=True, return_index=True,
               return_inverse=True, return_counts=True, axis=[0], dtype=INT32)  # fmt: skip
    for right in (True, False):
        yield case("searchsorted", {"SortedSequence": np.arange(5, dtype=np.float32), "Values": real(3, low=0, high=4)},
                   right=right, out_int32=False)  # fmt: skip
