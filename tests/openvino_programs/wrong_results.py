"""Constants of small types and operations with arguments in less usual forms."""

import numpy as np


def run(ov, node, parameters, inputs):
    model = ov.Model([node], parameters, "m")
    return ov.compile_model(model, "AUTO", {"INFERENCE_PRECISION_HINT": "f32"})(inputs)[0]


def converted(ov, values, kind):
    ops = ov.opset15
    data = ops.parameter([len(values)], ov.Type.f32)
    constant = ops.constant(np.array(values, np.float32), dtype=kind)
    return run(ov, ops.add(ops.convert(constant, "f32"), data), [data], [np.zeros(len(values), np.float32)])


def program_nf4(ov):
    return converted(ov, [0, 0.1, -1, 1, 0.5, -0.33, 0.8614, 0.72, 3, -7], ov.Type.nf4)


def program_f8e8m0(ov):
    return converted(ov, [0.75, 6, 1.5, 3, 0.3, 5.9, 12, 24, 1.4999, 1.5001], ov.Type.f8e8m0)


def program_weighted_bags(ov):
    ops = ov.opset15
    table = ops.parameter([5, 2], ov.Type.f32)
    indices, offsets = np.array([0, 2, 3, 4], np.int64), np.array([0, 0, 2], np.int64)
    weights = ops.constant(np.array([0.5, 2, 1, 3], np.float32))
    node = ops.embedding_bag_offsets(table, ops.constant(indices), ops.constant(offsets), per_sample_weights=weights)
    return run(ov, node, [table], [np.arange(10, dtype=np.float32).reshape(5, 2)])


def program_activations_of_recurrent_sequences(ov):
    ops, rng = ov.opset15, np.random.default_rng(0)

    def constant(*shape):
        return ops.constant(rng.standard_normal(shape).astype(np.float32))

    def sequence(**arguments):
        data = ops.parameter([2, 3, 4], ov.Type.f32)
        lengths = ops.constant(np.array([3, 3], np.int64))
        weights = [constant(1, 5, 4), constant(1, 5, 5), constant(1, 5)]
        node = ops.rnn_sequence(data, constant(2, 1, 5), lengths, *weights, 5, "forward", **arguments)
        return run(ov, node.output(0), [data], [rng.standard_normal((2, 3, 4)).astype(np.float32)])

    return sequence(), sequence(activations=["tanh"])


def program_detection_with_an_array_of_numbers(ov):
    ops = ov.opset8
    boxes = ops.parameter([1, 8], ov.Type.f32)
    scores = np.array([[0.2, 0.8, 0.3, 0.7]], np.float32)
    priors = [[0.1, 0.1, 0.5, 0.5, 0.4, 0.4, 0.9, 0.9], [0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.2, 0.2]]
    attributes = {
        "keep_top_k": np.array([2], np.int32), "nms_threshold": 0.5, "confidence_threshold": 0.1, "normalized": True,
        "code_type": "caffe.PriorBoxParameter.CENTER_SIZE",
    }  # fmt: skip
    priors = ops.constant(np.array([priors], np.float32))
    node = ops.detection_output(boxes, ops.constant(scores), priors, attributes)
    return run(ov, node, [boxes], [np.zeros((1, 8), np.float32)])
