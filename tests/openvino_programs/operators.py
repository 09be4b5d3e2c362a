"""Spellings of operators and of their data that OpenVINO takes, and the constants that it compresses."""

import numpy as np


def run(ov, node, *data):
    """Return the first output of a graph whose Parameters are named by their number among ``data``."""
    model = ov.Model([node], [entry[0] for entry in data], "m")
    compiled = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    return compiled([entry[1] for entry in data])[0]


def program_activations_of_recurrent_networks(ov):
    """More activations than a network has are ignored."""
    random = np.random.default_rng(0)
    results = []
    for make, gates, lists in (
        (ov.opset5.rnn_sequence, 1, (["relu"], ["tanh", "relu"], ["sigmoid", "tanh", "relu"])),
        (ov.opset5.gru_sequence, 3, (["sigmoid", "tanh", "relu"],)),
    ):
        for activations in lists:
            weights = [random.standard_normal(s).astype(np.float32) for s in ((1, gates * 3, 4), (1, gates * 3, 3))]
            state, biases = np.ones((2, 1, 3), np.float32), np.zeros((1, gates * 3), np.float32)
            x = ov.opset5.parameter([2, 5, 4], np.float32)
            node = make(x, state, np.int32([5, 3]), *weights, biases, 3, "forward", activations)
            results.append(run(ov, node.output(0), (x, random.standard_normal((2, 5, 4)).astype(np.float32))))
    return results


def program_lists_of_boxes_to_keep(ov):
    """The first number of keep_top_k counts."""
    boxes = np.float32([0.1, 0.1, 0.4, 0.4, 0.5, 0.5, 0.9, 0.9, 0.1, 0.5, 0.4, 0.9, 0.5, 0.1, 0.9, 0.4])
    results = []
    for keep in ([2], [3, 1], [1, 5], np.array([2, 3])):
        attributes = {
            "num_classes": 3, "background_label_id": 0, "top_k": 16, "variance_encoded_in_target": True,
            "keep_top_k": keep, "code_type": "caffe.PriorBoxParameter.CORNER", "nms_threshold": 0.5,
            "confidence_threshold": 0.1, "normalized": True,
        }  # fmt: skip
        offsets, scores = (ov.opset1.parameter([1, count], np.float32) for count in (16, 12))
        node = ov.opset1.detection_output(offsets, scores, ov.opset1.constant(boxes.reshape(1, 1, -1)), attributes)
        values = np.linspace(0.2, 0.9, 12, dtype=np.float32)[None]
        found = run(ov, node, (offsets, np.zeros((1, 16), np.float32)), (scores, values))
        results += [found, node.get_output_partial_shape(0).to_string()]
    return results


def program_packed_tensors_of_other_buffers(ov):
    """A tensor of elements smaller than a byte takes the bytes of any array."""
    arrays = [np.uint8([0x21, 0x43]), np.int8([33, 67]), np.uint16([0x4321]), np.float32([3.5]), np.int32([-2])]
    found = []
    for name in ("u4", "i4", "u1", "u2"):
        kind = getattr(ov.Type, name)
        for array in arrays:
            tensor = ov.Tensor(array, ov.Shape([array.nbytes * 8 // kind.bitwidth]), kind)
            found.append([tensor.byte_size, tensor.size, tensor.data.tolist()])
    return found


def stored_types(ov, make):
    """Return the names of what is stored in f16 after compression, and the types of all Constants, in order."""
    from importlib import import_module

    x = ov.opset13.parameter([1, 4], np.float32, name="x")
    bias = ov.opset13.constant(np.ones((1, 4), np.float32), name="bias")
    model = ov.Model([ov.opset13.add(make(ov.opset13, x), bias, name="sum")], [x], "m")
    import_module(f"{ov.__name__}._offline_transformations").compress_model_transformation(model)
    nodes = [node for node in model.get_ordered_ops() if node.get_type_name() == "Constant"]
    names = sorted(node.get_friendly_name() for node in nodes if node.get_output_element_type(0) == ov.Type.f16)
    return names, sorted(node.get_output_element_type(0).get_type_name() for node in nodes)


def program_quantized_models_keep_their_floats(ov):
    def quantized_weights(kind):
        def make(o, x):
            integers = o.convert(o.constant(np.ones((4, 4)), kind), np.float32)
            shifted = o.subtract(integers, o.constant(np.float32(3)))
            return o.matmul(x, o.multiply(shifted, o.constant(np.full((4, 1), 0.1, np.float32))), False, False)

        return make

    def fake_quantized(o, x):
        return o.fake_quantize(x, *map(np.float32, (-1, 1, -1, 1)), 255, name="x/fq_input_0")

    def mask(o, x):
        return o.multiply(o.convert(o.constant(np.ones((1, 4)), np.uint8), np.float32), x)

    makers = [fake_quantized, mask, lambda o, x: o.relu(x)]
    makers += [quantized_weights(kind) for kind in (np.int8, np.uint8, ov.Type.u4, ov.Type.i4)]
    return [stored_types(ov, make) for make in makers]
