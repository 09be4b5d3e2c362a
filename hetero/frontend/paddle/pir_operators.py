"""The names of ProgramDesc for the operators of JSON programs, whose values have an order but no names in the file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Form(NamedTuple):
    """The type, ports and attributes of an operator in ProgramDesc.

    ``inputs`` and ``outputs`` are in the order of the values. Attributes that are inputs in JSON programs are ports
    with the names that ProgramDesc has for tensors in their places, or with the name of the attribute. ``attributes``:
    the names in ProgramDesc of attributes that have another one.
    """

    op_type: str
    inputs: Sequence[str] | None
    outputs: Sequence[str] | None
    attributes: Mapping[str, str]


def form_of(op_type: str) -> Form:
    """Return the form of an operator in ProgramDesc: that of the operator itself if its type ends with ``_``.

    An operator without a form of its own, which may be a user's, has the same type. ``inputs`` and ``outputs`` are None
    if their names are not known.
    """
    return _FORMS.get(op_type) or _FORMS.get(op_type.removesuffix("_")) or Form(op_type, None, None, {})


def _form(op_type: str, inputs: str = "X", outputs: str = "Out", **attributes: str) -> Form:
    return Form(op_type, inputs.split(), outputs.split(), attributes)


_REDUCTIONS = {
    "sum": "reduce_sum", "mean": "reduce_mean", "max": "reduce_max", "min": "reduce_min", "prod": "reduce_prod",
    "any": "reduce_any", "all": "reduce_all", "amax": "reduce_amax", "amin": "reduce_amin",
    "logsumexp": "logsumexp",
}  # fmt: skip
_BINARY = {
    "add": "elementwise_add", "subtract": "elementwise_sub", "multiply": "elementwise_mul",
    "divide": "elementwise_div", "maximum": "elementwise_max", "minimum": "elementwise_min",
    "floor_divide": "elementwise_floordiv", "remainder": "elementwise_mod", "fmax": "elementwise_fmax",
    "fmin": "elementwise_fmin", "heaviside": "elementwise_heaviside",
    **{name: name for name in (
        "elementwise_pow", "equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal",
        "logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "dot", "bmm", "kron",
        "cross", "equal_all",
    )},
}  # fmt: skip
# Operators of one value that have another name.
_UNARY = {
    "hardsigmoid": "hard_sigmoid", "hardswish": "hard_swish", "logsigmoid": "logsigmoid", "isnan": "isnan_v2",
    "isinf": "isinf_v2", "isfinite": "isfinite_v2", "mean_all": "mean", "add_n": "sum", "flip": "flip",
}  # fmt: skip
_QUANTIZER = "X InScale InAccum InState"
_SCALES = "Out OutScale OutState OutAccum"
_BATCH_NORM = ("X Mean Variance Scale Bias", "Y MeanOut VarianceOut SavedMean SavedVariance ReserveSpace")
_STEPS = "StartsTensorList EndsTensorList StepsTensorList"

_FORMS: dict[str, Form] = {
    **{name: _form(kind, "X dim", axis="dim", keepdim="keep_dim") for name, kind in _REDUCTIONS.items()},
    **{name: _form(kind, "X Y") for name, kind in _BINARY.items()},
    **{name: _form(kind) for name, kind in _UNARY.items()},
    **{f"{mode}_interp": _form(f"{mode}_interp_v2", "X OutSize SizeTensor Scale")
       for mode in ("linear", "bilinear", "trilinear", "nearest", "bicubic")},
    **{name: _form(name, "Input Filter", "Output") for name in ("conv2d", "depthwise_conv2d", "conv3d")},
    **{name: _form(name, "Input Filter output_size", "Output")
       for name in ("conv2d_transpose", "depthwise_conv2d_transpose", "conv3d_transpose")},
    **{name: _form(name.rstrip("_"), *_BATCH_NORM) for name in ("batch_norm", "batch_norm_", "sync_batch_norm_")},
    **{name: _form(name, "X", "Out Mask", kernel_size="ksize")
       for name in ("max_pool2d_with_index", "max_pool3d_with_index")},
    **{name: _form(name, "X ksize", kernel_size="ksize") for name in ("pool2d", "pool3d")},
    **{name: _form(name, _QUANTIZER, _SCALES) for name in (
        "fake_quantize_dequantize_moving_average_abs_max", "fake_quantize_moving_average_abs_max")},
    **{name: _form(name, "X", "Out OutScale") for name in (
        "fake_quantize_dequantize_abs_max", "fake_channel_wise_quantize_dequantize_abs_max",
        "fake_quantize_abs_max", "fake_channel_wise_quantize_abs_max")},
    **{name: _form(name, "X Scale ZeroPoint InAccum InState", "Y OutState OutAccum OutScale")
       for name in ("quantize_linear", "dequantize_linear")},
    "addmm": _form("addmm", "Input X Y", alpha="Alpha", beta="Beta"),
    "affine_channel": _form("affine_channel", "X Scale Bias"),
    "affine_grid": _form("affine_grid", "Theta OutputShape", "Output"),
    "array_length": _form("lod_array_length"),
    "array_read": _form("read_from_array", "X I"),
    "array_to_tensor": _form("tensor_array_to_tensor", "X", "Out OutIndex"),
    "array_write": _form("write_to_array", "Array X I"),
    "arange": _form("range", "Start End Step"),
    "argmax": _form("arg_max", "X axis"),
    "argmin": _form("arg_min", "X axis"),
    "argsort": _form("argsort", "X", "Out Indices"),
    "assign_out": _form("assign", "X Output"),
    "assign_value": _form("assign_value", "Output"),
    "atan2": _form("atan2", "X1 X2"),
    "baddbmm": _form("baddbmm", "Input X Y"),
    "box_clip": _form("box_clip", "Input ImInfo", "Output"),
    "box_coder": _form("box_coder", "PriorBox PriorBoxVar TargetBox", "OutputBox"),
    "cast": _form("cast", dtype="out_dtype"),
    "clip": _form("clip", "X Min Max"),
    "concat": _form("concat", "X AxisTensor"),
    "cumsum": _form("cumsum", "X axis"),
    "deformable_conv": _form("deformable_conv", "Input Offset Filter Mask", "Output"),
    "distribute_fpn_proposals": _form(
        "distribute_fpn_proposals", "FpnRois RoisNum", "MultiFpnRois MultiLevelRoIsNum RestoreIndex"
    ),
    "dropout": _form("dropout", "X Seed p", "Out Mask", p="dropout_prob", mode="dropout_implementation"),
    "einsum": _form("einsum", "Operands", "Out InnerCache XShape"),
    "embedding": _form("lookup_table_v2", "Ids W"),
    "expand": _form("expand_v2", "X Shape"),
    "expand_as": _form("expand_as_v2", "X Y"),
    "eye": _form("eye", "num_rows num_columns"),
    "fake_channel_wise_dequantize_max_abs": _form("fake_channel_wise_dequantize_max_abs", "X Scales"),
    "fake_dequantize_max_abs": _form("fake_dequantize_max_abs", "X Scale"),
    "fake_quantize_range_abs_max": _form("fake_quantize_range_abs_max", "X InScale Iter", "Out OutScale OutScales"),
    "fc": _form("fc", "Input W Bias"),
    "flatten": _form("flatten_contiguous_range"),
    "fold": _form("fold", "X", "Y"),
    "frobenius_norm": _form("frobenius_norm", "X dim", axis="dim"),
    "full": _form("fill_constant", ""),
    "full_": _form("fill_constant", "Output"),
    "full_batch_size_like": _form("fill_constant_batch_size_like", "Input"),
    "full_int_array": _form("full_int_array", ""),
    "full_like": _form("fill_any_like", "X ValueTensor"),
    "full_with_tensor": _form("fill_constant", "ValueTensor ShapeTensor"),
    "fused_softmax_mask": _form("fused_softmax_mask", "X Mask"),
    "gather": _form("gather", "X Index Axis"),
    "gather_nd": _form("gather_nd", "X Index"),
    "generate_proposals": _form(
        "generate_proposals_v2", "Scores BboxDeltas ImShape Anchors Variances", "RpnRois RpnRoiProbs RpnRoisNum",
        pre_nms_top_n="pre_nms_topN", post_nms_top_n="post_nms_topN",
    ),
    "grid_sample": _form("grid_sampler", "X Grid", "Output"),
    "group_norm": _form("group_norm", "X Scale Bias", "Y Mean Variance"),
    "hardshrink": _form("hard_shrink"),
    "hardtanh": _form("brelu"),
    "if": _form("if", "Cond"),
    "increment": _form("increment", value="step"),
    "index_add": _form("index_add", "X Index AddValue"),
    "index_put": _form("index_put", "x indices value"),
    "index_sample": _form("index_sample", "X Index"),
    "index_select": _form("index_select", "X Index", axis="dim"),
    "instance_norm": _form("instance_norm", "X Scale Bias", "Y SavedMean SavedVariance"),
    "kthvalue": _form("kthvalue", "X", "Out Indices"),
    **{name: _form(name, "Input Other Rtol Atol") for name in ("isclose", "allclose")},
    "rrelu": _form("rrelu", "X", "Out Noise"),
    "label_smooth": _form("label_smooth", "X PriorDist"),
    "layer_norm": _form("layer_norm", "X Scale Bias", "Y Mean Variance"),
    "leaky_relu": _form("leaky_relu", negative_slope="alpha"),
    "lerp": _form("lerp", "X Y Weight"),
    "linspace": _form("linspace", "Start Stop Num"),
    "lrn": _form("lrn", "X", "Out MidOut"),
    "masked_select": _form("masked_select", "X Mask", "Y"),
    "matmul": _form("matmul_v2", "X Y", transpose_x="trans_x", transpose_y="trans_y"),
    "matmul_with_flatten": _form("mul", "X Y"),
    "matrix_nms": _form("matrix_nms", "BBoxes Scores", "Out Index RoisNum"),
    "mish": _form("mish", **{"lambda": "threshold"}),
    "moving_average_abs_max_scale": _form("moving_average_abs_max_scale", "X InAccum InState", _SCALES),
    "multiclass_nms3": _form("multiclass_nms3", "BBoxes Scores RoisNum", "Out Index NmsRoisNum"),
    "multiplex": _form("multiplex", "X Ids"),
    "mv": _form("mv", "X Vec"),
    "nonzero": _form("where_index", "Condition"),
    "norm": _form("norm", "X", "Out Norm"),
    "numel": _form("size", "Input"),
    "one_hot": _form("one_hot_v2", "X depth_tensor", num_classes="depth"),
    "pad": _form("pad", "X pad_value"),
    "pad3d": _form("pad3d", "X Paddings", pad_value="value"),
    "pow": _form("pow", y="factor"),
    "prelu": _form("prelu", "X Alpha"),
    "prior_box": _form("prior_box", "Input Image", "Boxes Variances"),
    "put_along_axis": _form("put_along_axis", "Input Index Value", "Result", axis="Axis", reduce="Reduce"),
    "reshape": _form("reshape2", "X Shape", "Out XShape"),
    "reverse": _form("reverse", "X axis"),
    "rms_norm": _form("rms_norm", "x scale", "y invvar"),
    "rnn": _form("rnn", "Input PreState WeightList SequenceLength DropoutState", "Out DropoutState State Reserve"),
    "roi_align": _form("roi_align", "X ROIs RoisNum"),
    "roll": _form("roll", "X ShiftsTensor"),
    "scale": _form("scale", "X ScaleTensor"),
    "scatter": _form("scatter", "X Ids Updates"),
    "scatter_nd_add": _form("scatter_nd_add", "X Index Updates"),
    "select_input": _form("select_input", "Mask X Y"),
    "searchsorted": _form("searchsorted", "SortedSequence Values"),
    "set_value": _form("set_value", f"Input {_STEPS}"),
    "set_value_with_tensor": _form("set_value", f"Input ValueTensor {_STEPS}"),
    "shape": _form("shape", "Input"),
    "shape64": _form("shape64", "Input"),
    "skip_layernorm": _form("skip_layernorm", "X Y Scale Bias"),
    "slice": _form("slice", "Input StartsTensor EndsTensor"),
    "softshrink": _form("softshrink", threshold="lambda"),
    "split": _form("split", "X SectionsTensorList AxisTensor"),
    "split_with_num": _form("split", "X AxisTensor"),
    "squeeze": _form("squeeze2", "X AxesTensor", "Out XShape", axis="axes"),
    "stack": _form("stack", "X", "Y"),
    "strided_slice": _form("strided_slice", "Input StartsTensor EndsTensor StridesTensor"),
    "swiglu": _form("swiglu", "x y"),
    "take_along_axis": _form("take_along_axis", "Input Index", "Result", axis="Axis"),
    "tile": _form("tile", "X RepeatTimes"),
    "topk": _form("top_k_v2", "X K", "Out Indices"),
    "transpose": _form("transpose2", "X", "Out XShape", perm="axis"),
    "unique": _form("unique", "X", "Out Indices Index Counts"),
    "unsqueeze": _form("unsqueeze2", "X AxesTensor", "Out XShape", axis="axes"),
    "unstack": _form("unstack", "X", "Y"),
    "where": _form("where", "Condition X Y"),
    "yolo_box": _form("yolo_box", "X ImgSize", "Boxes Scores"),
}  # fmt: skip
