"""Cases of operators of neural networks: convolutions, recurrent networks, quantization, detection."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from tests.frameworks.paddle.case_inputs import case, real, vector, weights
from tests.frameworks.paddle.programs import Case, Constant


def _boxes(*shape: int, size: float = 1.0) -> np.ndarray:
    begin = real(*shape, 2, low=0, high=0.6)
    return np.concatenate([begin, begin + real(*shape, 2, low=0.1, high=0.4)], -1) * np.float32(size)


def activations() -> Iterator[Case]:
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


def convolutions() -> Iterator[Case]:
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


def pooling() -> Iterator[Case]:
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


def normalization() -> Iterator[Case]:
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


def products() -> Iterator[Case]:
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


def resampling() -> Iterator[Case]:
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


def recurrent() -> Iterator[Case]:
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


def quantization() -> Iterator[Case]:
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


def detection() -> Iterator[Case]:
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
