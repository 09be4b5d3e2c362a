"""Cases of operators, each with several combinations of attributes, in the terms of ProgramDesc."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from paddle.base import core

from tests.frameworks.paddle.programs import Case, Constant, Input

_GENERATOR = np.random.default_rng(0)


def real(*shape: int, low: float = -2, high: float = 2) -> np.ndarray:
    return _GENERATOR.uniform(low, high, shape).astype(np.float32)


def integers(high: int, *shape: int, dtype: str = "int64", low: int = 0) -> np.ndarray:
    return _GENERATOR.integers(low, high, shape).astype(dtype)


def weights(*shape: int) -> Constant:
    return Constant(real(*shape))


def vector(*numbers: float, dtype: str = "int64") -> Constant:
    return Constant(np.array(numbers, dtype))


def case(op_type: str, inputs: dict[str, Input], outputs: str | dict[str, int] = "Out", **attributes: Any) -> Case:
    ports = outputs if isinstance(outputs, dict) else dict.fromkeys(outputs.split(), 1)
    return Case(op_type, inputs, ports, attributes)


# A kind of variables, and element types as attributes.
STEP_SCOPES = core.VarDesc.VarType.STEP_SCOPES
BOOL, INT32, INT64, FLOAT16, FLOAT32, FLOAT64 = 0, 2, 3, 4, 5, 6


# The families of cases; each is a function of this module.
FAMILIES = (
    "binary", "unary", "activations", "reductions", "shapes", "joins", "slices", "padding", "creation", "indexing",
    "convolutions", "pooling", "normalization", "products", "resampling", "sorting", "recurrent", "quantization",
    "detection",
)  # fmt: skip


def cases() -> Iterator[Case]:
    """Yield all cases."""
    for name in FAMILIES:
        yield from globals()[f"_{name}"]()


def _binary() -> Iterator[Case]:
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


def _unary() -> Iterator[Case]:
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


def _activations() -> Iterator[Case]:
    x = real(2, 4, 3, 3, low=-5, high=5)
    yield case("relu6", {"X": x * 3}, threshold=6.0)
    yield case("brelu", {"X": x * 3}, t_min=-1.0, t_max=4.0)
    yield case("leaky_relu", {"X": x}, alpha=0.1)
    yield case("leaky_relu", {"X": x}, alpha=0.02)
    for approximate in (True, False):
        yield case("gelu", {"X": x}, approximate=approximate)
    yield case("swish", {"X": x}, beta=1.0)
    yield case("mish", {"X": x}, threshold=20.0)
    yield case("hard_sigmoid", {"X": x}, slope=0.2, offset=0.5)
    yield case("hard_sigmoid", {"X": x}, slope=1 / 6, offset=0.4)
    yield case("hard_swish", {"X": x}, threshold=6.0, scale=6.0, offset=3.0)
    for beta, threshold in ((1.0, 20.0), (2.0, 3.0)):
        yield case("softplus", {"X": x}, beta=beta, threshold=threshold)
    for alpha in (1.0, 0.5):
        yield case("elu", {"X": x}, alpha=alpha)
        yield case("celu", {"X": x}, alpha=alpha)
    yield case("selu", {"X": x}, alpha=1.6732632423543772, scale=1.0507009873554805)
    yield case("softshrink", {"X": x}, **{"lambda": 0.7})
    yield case("hard_shrink", {"X": x}, threshold=0.7)
    yield case("thresholded_relu", {"X": x}, threshold=1.5)
    yield case("stanh", {"X": x}, scale_a=0.5, scale_b=1.2)
    for axis in (-1, 1, 0):
        yield case("softmax", {"X": x}, axis=axis)
        yield case("log_softmax", {"X": x}, axis=axis)
    yield case("prelu", {"X": x, "Alpha": weights(1)}, mode="all", data_format="NCHW")
    yield case("prelu", {"X": x, "Alpha": weights(4)}, mode="channel", data_format="NCHW")
    yield case("prelu", {"X": x, "Alpha": weights(3)}, mode="channel", data_format="NHWC")
    yield case("prelu", {"X": x, "Alpha": weights(1, 4, 3, 3)}, mode="element", data_format="NCHW")
    yield case("maxout", {"X": x}, groups=2, axis=1)
    yield case("maxout", {"X": x}, groups=3, axis=-1)


def _reductions() -> Iterator[Case]:
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
    yield case("diagonal", {"Input": x}, offset=1, axis1=1, axis2=2)


def _shapes() -> Iterator[Case]:
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


def _joins() -> Iterator[Case]:
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


def _slices() -> Iterator[Case]:
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


def _padding() -> Iterator[Case]:
    x = real(2, 3, 4, 5)
    yield case("pad", {"X": x}, paddings=[0, 0, 1, 0, 2, 1, 0, 3], pad_value=1.5)
    image = real(1, 2, 3, 4, 5)
    for mode, layout in product(("constant", "reflect", "replicate", "circular"), ("NCDHW", "NDHWC")):
        yield case("pad3d", {"X": image}, paddings=[1, 2, 1, 0, 0, 1], mode=mode, value=0.5, data_format=layout)


def _creation() -> Iterator[Case]:
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


def _indexing() -> Iterator[Case]:
    x, index = real(4, 5), integers(4, 3)
    yield case("gather", {"X": x, "Index": index}, axis=0)
    yield case("gather", {"X": x, "Index": index, "Axis": vector(1, dtype="int32")}, axis=0)
    yield case("gather_nd", {"X": x, "Index": integers(4, 3, 2)})
    yield case("gather_nd", {"X": x, "Index": integers(4, 3, 1)})
    for axis in (0, 1):
        yield case("index_select", {"X": x, "Index": index}, dim=axis)
        yield case("take_along_axis", {"Input": x, "Index": integers(4, 4, 5)}, "Result", Axis=axis)
    yield case("index_sample", {"X": x, "Index": integers(5, 4, 2)})
    places = np.stack([_GENERATOR.permutation(4) for _ in range(5)], 1).astype(np.int64)
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


def _convolutions() -> Iterator[Case]:
    plain = {"strides": [1, 1], "paddings": [0, 0], "dilations": [1, 1], "groups": 1, "data_format": "NCHW",
             "padding_algorithm": "EXPLICIT"}  # fmt: skip
    x = real(1, 4, 7, 8)
    for changed in (
        {}, {"strides": [2, 1], "paddings": [1, 2]}, {"paddings": [0, 1, 2, 3]}, {"dilations": [2, 1]},
        {"padding_algorithm": "SAME", "strides": [2, 2]}, {"padding_algorithm": "VALID"},
    ):  # fmt: skip
        attributes = {**plain, **changed}
        yield case("conv2d", {"Input": x, "Filter": weights(6, 4, 3, 3)}, "Output", **attributes)
        yield case("conv2d", {"Input": x, "Filter": weights(6, 2, 3, 3)}, "Output", **{**attributes, "groups": 2})
        yield case("depthwise_conv2d", {"Input": x, "Filter": weights(4, 1, 3, 3)}, "Output",
                   **{**attributes, "groups": 4})  # fmt: skip
    yield case("conv2d", {"Input": real(1, 7, 8, 4), "Filter": weights(6, 4, 3, 3)}, "Output",
               **{**plain, "data_format": "NHWC"})  # fmt: skip
    spatial = {"strides": [1, 1, 2], "paddings": [0, 1, 0], "dilations": [1, 1, 1], "data_format": "NCDHW"}
    yield case("conv3d", {"Input": real(1, 2, 4, 5, 6), "Filter": weights(3, 2, 2, 2, 2)}, "Output",
               **{**plain, **spatial})  # fmt: skip
    extra = {"output_padding": [], "output_size": []}
    for changed in (
        {}, {"strides": [2, 2], "paddings": [1, 0]}, {"strides": [2, 2], "output_padding": [1, 1]},
        {"strides": [2, 2], "output_size": [16, 18]}, {"dilations": [2, 2]}, {"padding_algorithm": "SAME"},
    ):  # fmt: skip
        attributes = {**plain, **extra, **changed}
        yield case("conv2d_transpose", {"Input": x, "Filter": weights(4, 3, 3, 3)}, "Output", **attributes)
    yield case(
        "conv2d_transpose", {"Input": x, "Filter": weights(4, 3, 3, 3)}, "Output", **{**plain, **extra, "groups": 2}
    )
    yield case("depthwise_conv2d_transpose", {"Input": x, "Filter": weights(4, 1, 3, 3)}, "Output",
               **{**plain, **extra, "groups": 4})  # fmt: skip
    deformable = {"strides": [1, 1], "paddings": [1, 1], "dilations": [1, 1], "groups": 1, "deformable_groups": 1,
                  "im2col_step": 1}  # fmt: skip
    inputs = {"Input": real(1, 4, 5, 5), "Offset": real(1, 18, 5, 5), "Filter": weights(3, 4, 3, 3)}
    yield case("deformable_conv_v1", inputs, "Output", **deformable)
    yield case("deformable_conv", {**inputs, "Mask": real(1, 9, 5, 5, low=0, high=1)}, "Output", **deformable)
    yield case("affine_channel", {"X": x, "Scale": weights(4), "Bias": weights(4)}, data_layout="NCHW")


def _pooling() -> Iterator[Case]:
    plain = {"ksize": [3, 2], "strides": [2, 2], "paddings": [0, 0], "global_pooling": False, "ceil_mode": False,
             "exclusive": True, "adaptive": False, "data_format": "NCHW", "padding_algorithm": "EXPLICIT"}  # fmt: skip
    x = real(2, 3, 8, 9)
    for kind, changed in product(("max", "avg"), (
        {}, {"paddings": [1, 1]}, {"paddings": [1, 0, 0, 1]}, {"ceil_mode": True},
        {"ceil_mode": True, "paddings": [1, 1], "ksize": [3, 3]},
        {"exclusive": False, "paddings": [1, 1]}, {"exclusive": False, "paddings": [1, 1], "ceil_mode": True},
        {"global_pooling": True}, {"padding_algorithm": "SAME"}, {"padding_algorithm": "VALID"},
        {"data_format": "NHWC"},
    )):  # fmt: skip
        yield case("pool2d", {"X": x}, pooling_type=kind, **{**plain, **changed})
    for size in ([1, 1], [3, 4]):
        yield case("pool2d", {"X": x}, pooling_type="avg", **{**plain, "adaptive": True, "ksize": size})
    spatial = {"ksize": [2, 2, 2], "strides": [2, 1, 2], "paddings": [0, 1, 1], "data_format": "NCDHW"}
    for kind in ("max", "avg"):
        yield case("pool3d", {"X": real(1, 2, 4, 5, 6)}, pooling_type=kind, **{**plain, **spatial})
    for changed in ({}, {"paddings": [1, 1]}, {"adaptive": True}, {"global_pooling": True}):
        attributes = {
            "ksize": [2, 2],
            "strides": [2, 2],
            "paddings": [0, 0],
            "adaptive": False,
            "global_pooling": False,
        }
        yield case("max_pool2d_with_index", {"X": x}, "Out Mask", **{**attributes, **changed})
    yield case("max_pool3d_with_index", {"X": real(1, 2, 4, 4, 6)}, "Out Mask", ksize=[2, 2, 2], strides=[2, 2, 2],
               paddings=[0, 0, 0])  # fmt: skip


def _normalization() -> Iterator[Case]:
    x = real(2, 4, 3, 5)
    statistics = {"Mean": weights(4), "Variance": Constant(real(4, low=0.5))}
    for layout, value in (("NCHW", x), ("NHWC", real(2, 3, 5, 4)), ("NCHW", real(3, 4))):
        yield case("batch_norm", {"X": value, "Scale": weights(4), "Bias": weights(4), **statistics},
                   "Y MeanOut VarianceOut SavedMean SavedVariance", is_test=True, epsilon=1e-4, momentum=0.9,
                   data_layout=layout, use_global_stats=False, trainable_statistics=False)  # fmt: skip
    for first, count in ((1, 60), (2, 15), (3, 5)):
        yield case("layer_norm", {"X": x, "Scale": weights(count), "Bias": weights(count)}, "Y Mean Variance",
                   begin_norm_axis=first, epsilon=1e-5)  # fmt: skip
    yield case("layer_norm", {"X": x}, "Y Mean Variance", begin_norm_axis=3, epsilon=1e-5)
    yield case("instance_norm", {"X": x, "Scale": weights(4), "Bias": weights(4)}, "Y SavedMean SavedVariance",
               epsilon=1e-5)  # fmt: skip
    for groups in (1, 2, 4):
        yield case("group_norm", {"X": x, "Scale": weights(4), "Bias": weights(4)}, "Y Mean Variance", groups=groups,
                   epsilon=1e-5, data_layout="NCHW")  # fmt: skip
    yield case("group_norm", {"X": real(2, 3, 5, 4), "Scale": weights(4), "Bias": weights(4)}, "Y Mean Variance",
               groups=2, epsilon=1e-5, data_layout="NHWC")  # fmt: skip
    yield case("lrn", {"X": x}, "Out MidOut", n=3, k=2.0, alpha=0.1, beta=0.75, data_format="NCHW")
    yield case("label_smooth", {"X": real(3, 4)}, epsilon=0.1)


def _products() -> Iterator[Case]:
    for transposed in product((False, True), (False, True)):
        x, y = real(2, *((4, 3) if transposed[0] else (3, 4))), real(2, *((5, 4) if transposed[1] else (4, 5)))
        yield case("matmul_v2", {"X": x, "Y": y}, trans_x=transposed[0], trans_y=transposed[1])
        yield case("matmul", {"X": x, "Y": y}, transpose_X=transposed[0], transpose_Y=transposed[1], alpha=0.5)
    yield case("matmul_v2", {"X": real(4), "Y": real(4)}, trans_x=False, trans_y=False)
    yield case("matmul_v2", {"X": real(2, 3, 4), "Y": weights(4, 5)}, trans_x=False, trans_y=False)
    yield case("bmm", {"X": real(2, 3, 4), "Y": real(2, 4, 5)})
    yield case("mul", {"X": real(2, 3, 4), "Y": weights(4, 5)}, x_num_col_dims=2, y_num_col_dims=1)
    yield case("mul", {"X": real(2, 3, 4), "Y": weights(12, 5)}, x_num_col_dims=1, y_num_col_dims=1)
    yield case("mul", {"X": real(2, 3, 4), "Y": weights(4, 5, 2)}, x_num_col_dims=2, y_num_col_dims=1)
    yield case("mv", {"X": real(3, 4), "Vec": real(4)})
    yield case("addmm", {"Input": real(3, 5), "X": real(3, 4), "Y": real(4, 5)}, Alpha=0.5, Beta=2.0)


def _resampling() -> Iterator[Case]:
    shapes = {"linear": (1, 2, 6), "bilinear": (1, 2, 5, 6), "nearest": (1, 2, 5, 6), "bicubic": (1, 2, 5, 6),
              "trilinear": (1, 2, 3, 4, 5)}  # fmt: skip
    for mode, aligned, align_mode in product(shapes, (True, False), (0, 1)):
        x = real(*shapes[mode])
        sizes = dict(zip(("out_w", "out_h", "out_d"), (11, 7, 6)[: x.ndim - 2]))
        common = {"interp_method": mode, "align_corners": aligned, "align_mode": align_mode,
                  "data_layout": "NCHW"}  # fmt: skip
        yield case(
            f"{mode}_interp_v2", {"X": x}, scale=[], **{"out_d": -1, "out_h": -1, "out_w": -1, **sizes}, **common
        )
        yield case(f"{mode}_interp_v2", {"X": x}, scale=[2.0] * (x.ndim - 2), out_d=-1, out_h=-1, out_w=-1, **common)
        if mode in ("bilinear", "nearest"):
            yield case(f"{mode}_interp_v2", {"X": x, "OutSize": vector(9, 4, dtype="int32")}, scale=[], out_d=-1,
                       out_h=-1, out_w=-1, **common)  # fmt: skip
            yield case(f"{mode}_interp_v2", {"X": x}, scale=[1.5, 0.7], out_d=-1, out_h=-1, out_w=-1, **common)
    x, grid = real(2, 3, 5, 6), real(2, 4, 4, 2, low=-1.2, high=1.2)
    for mode, padding, aligned in product(("bilinear", "nearest"), ("zeros", "border", "reflection"), (True, False)):
        yield case(
            "grid_sampler", {"X": x, "Grid": grid}, "Output", mode=mode, padding_mode=padding, align_corners=aligned
        )
    for aligned in (True, False):
        yield case("affine_grid", {"Theta": real(2, 2, 3)}, "Output", output_shape=[2, 3, 4, 5], align_corners=aligned)


def _sorting() -> Iterator[Case]:
    x = _GENERATOR.permutation(24).astype(np.float32).reshape(2, 3, 4)
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


def _recurrent() -> Iterator[Case]:
    counts = {"RNN_TANH": 1, "RNN_RELU": 1, "GRU": 3, "LSTM": 4}
    for (mode, gates), layers, directions, lengths in product(counts.items(), (1, 2), (1, 2), (None, [5, 3])):
        places = [(layer, at) for layer in range(layers) for at in range(directions)]
        parameters = [part for layer, _ in places for part in (
            weights(gates * 4, 3 if layer == 0 else 4 * directions), weights(gates * 4, 4))]  # fmt: skip
        parameters += [weights(gates * 4) for _ in range(2 * len(places))]
        states = [real(layers * directions, 2, 4) for _ in range(2 if mode == "LSTM" else 1)]
        inputs = {"Input": real(5, 2, 3), "PreState": states, "WeightList": parameters}
        if lengths:
            inputs["SequenceLength"] = np.array(lengths, np.int32)
        yield case("rnn", inputs, {"Out": 1, "State": len(states), "DropoutState": 1, "Reserve": 1}, mode=mode,
                   num_layers=layers, is_bidirec=directions == 2, hidden_size=4, input_size=3, is_test=True,
                   dropout_prob=0.0, seed=0)  # fmt: skip


def _quantization() -> Iterator[Case]:
    x = real(3, 4)
    for axis, kind in product((-1, 0, 1), (0, 1)):
        scale = Constant(real(1 if axis < 0 else x.shape[axis], low=1, high=3))
        inputs = {"X": x, "Scale": scale, "ZeroPoint": Constant(np.zeros(scale.array.shape, np.float32))}
        common = {"quant_axis": axis, "bit_length": 8, "round_type": kind, "is_test": True, "qmin": -128, "qmax": 127,
                  "only_observer": False}  # fmt: skip
        yield case("quantize_linear", inputs, "Y", **common)
        yield case("dequantize_linear", {**inputs, "X": np.round(x * 50)}, "Y", **common)
    for kind in (0, 1):
        for name in ("", "_dequantize"):
            yield case(f"fake_quantize{name}_abs_max", {"X": x}, "Out OutScale", bit_length=8, round_type=kind)
            yield case(f"fake_quantize{name}_moving_average_abs_max", {"X": x, "InScale": vector(1.5, dtype="float32")},
                       "Out OutScale", bit_length=8, round_type=kind, is_test=True)  # fmt: skip
            for axis in (0, 1):
                yield case(f"fake_channel_wise_quantize{name}_abs_max", {"X": x}, "Out OutScale", bit_length=8,
                           round_type=kind, quant_axis=axis)  # fmt: skip
    yield case("fake_quantize_range_abs_max", {"X": x, "InScale": vector(1.5, dtype="float32")},
               "Out OutScale", bit_length=8, is_test=True, window_size=1)  # fmt: skip
    yield case(
        "fake_dequantize_max_abs", {"X": np.round(x * 50), "Scale": vector(1.5, dtype="float32")}, max_range=127.0
    )
    yield case("fake_channel_wise_dequantize_max_abs", {"X": np.round(x * 50), "Scales": [Constant(real(3, low=1))]},
               quant_bits=[8], quant_axis=0, x_num_col_dims=1)  # fmt: skip


def _boxes(*shape: int, size: float = 1.0) -> np.ndarray:
    begin = real(*shape, 2, low=0, high=0.6)
    return np.concatenate([begin, begin + real(*shape, 2, low=0.1, high=0.4)], -1) * np.float32(size)


def _detection() -> Iterator[Case]:
    boxes, scores = _boxes(2, 20, size=100), real(2, 3, 20, low=0, high=1)
    common = {"score_threshold": 0.1, "nms_top_k": 10, "keep_top_k": 12, "normalized": False}
    for background, eta in product((-1, 0), (1.0, 0.9)):
        yield case("multiclass_nms3", {"BBoxes": boxes, "Scores": scores}, "Out Index NmsRoisNum", nms_threshold=0.4,
                   nms_eta=eta, background_label=background, **common)  # fmt: skip
    yield case("multiclass_nms3", {"BBoxes": boxes, "Scores": scores}, "Out Index NmsRoisNum", nms_threshold=0.4,
               nms_eta=1.0, background_label=-1, **{**common, "score_threshold": 2.0})  # fmt: skip
    for gaussian, background in product((True, False), (-1, 0)):
        yield case("matrix_nms", {"BBoxes": boxes, "Scores": scores}, "Out Index RoisNum", post_threshold=0.05,
                   use_gaussian=gaussian, gaussian_sigma=2.0, background_label=background, **common)  # fmt: skip
    inputs = {"Input": real(1, 2, 4, 5), "Image": real(1, 3, 40, 50)}
    for sizes, order, clip in product(([], [30.0]), (True, False), (True, False)):
        yield case("prior_box", inputs, "Boxes Variances", min_sizes=[20.0], max_sizes=sizes, aspect_ratios=[2.0, 3.0],
                   variances=[0.1, 0.1, 0.2, 0.2], flip=order, clip=clip, step_w=0.0, step_h=8.0, offset=0.5,
                   min_max_aspect_ratios_order=order)  # fmt: skip
    prior, variances = _boxes(5), Constant(real(5, 4, low=0.1, high=0.3))
    for normalized in (True, False):
        yield case("box_coder", {"PriorBox": prior, "PriorBoxVar": variances, "TargetBox": _boxes(3)}, "OutputBox",
                   code_type="encode_center_size", box_normalized=normalized)  # fmt: skip
        yield case("box_coder", {"PriorBox": prior, "PriorBoxVar": variances, "TargetBox": real(3, 5, 4)}, "OutputBox",
                   code_type="decode_center_size", box_normalized=normalized, axis=0)  # fmt: skip
    yield case("box_coder", {"PriorBox": prior, "TargetBox": real(5, 3, 4)}, "OutputBox", axis=1,
               code_type="decode_center_size", box_normalized=True, variance=[0.1, 0.1, 0.2, 0.2])  # fmt: skip
    size = np.array([[80, 100]], np.int32)
    for clip, scale, aware in product((True, False), (1.0, 1.1), (True, False)):
        yield case("yolo_box", {"X": real(1, 2 * (5 + aware + 3), 4, 5), "ImgSize": size}, "Boxes Scores",
                   anchors=[10, 13, 16, 30], class_num=3, conf_thresh=0.4, downsample_ratio=32, clip_bbox=clip,
                   scale_x_y=scale, iou_aware=aware, iou_aware_factor=0.4)  # fmt: skip
    regions, counts = _boxes(5, size=20), np.array([2, 3], np.int32)
    for aligned, ratio in product((True, False), (-1, 2)):
        yield case("roi_align", {"X": real(2, 3, 10, 12), "ROIs": regions, "RoisNum": counts}, pooled_height=3,
                   pooled_width=2, spatial_scale=0.5, sampling_ratio=ratio, aligned=aligned)  # fmt: skip
    for offset in (True, False):
        inputs = {"Scores": real(1, 3, 4, 5), "BboxDeltas": real(1, 12, 4, 5, low=-0.3, high=0.3),
                  "ImShape": np.array([[64, 80]], np.float32), "Anchors": Constant(_boxes(4, 5, 3, size=64)),
                  "Variances": Constant(np.full((4, 5, 3, 4), 0.5, np.float32))}  # fmt: skip
        yield case("generate_proposals_v2", inputs, "RpnRois RpnRoiProbs RpnRoisNum", pre_nms_topN=30, post_nms_topN=8,
                   nms_thresh=0.5, min_size=2.0, eta=1.0, pixel_offset=offset)  # fmt: skip
        yield case("distribute_fpn_proposals", {"FpnRois": _boxes(6, size=600), "RoisNum": np.array([2, 4], np.int32)},
                   {"MultiFpnRois": 3, "MultiLevelRoIsNum": 3, "RestoreIndex": 1}, min_level=2, max_level=4,
                   refer_level=3, refer_scale=224, pixel_offset=offset)  # fmt: skip
