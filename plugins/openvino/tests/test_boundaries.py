"""Boundaries of unknown lengths between OPENVINO and another device."""

import numpy as np

from hetero import Core, Model, Parameter, Type, ops

CORE = Core()


def test_models_of_any_length_that_are_cut():
    x, y = (Parameter(Type.f32, "[batch=?,words=1..64,8]", name=name) for name in "xy")
    added = ops.Add(ops.Relu(x, name="relu"), ops.Exp(y, name="exp"), name="add")
    weights = np.arange(64, dtype=np.float32).reshape(8, 8) / 64
    product = ops.MatMul(ops.Softmax(added, 1, name="softmax"), weights, False, False, name="product")
    model = Model([product], [x, y])
    reference = CORE.compile_model(model, "TEMPLATE")
    for node in model.get_ordered_ops():
        if node.friendly_name in ("relu", "exp", "product"):
            node.rt_info["affinity"] = "OPENVINO.CPU"
        elif node.friendly_name in ("add", "softmax"):
            node.rt_info["affinity"] = "TEMPLATE"
    compiled = CORE.compile_model(model, "HETERO:OPENVINO.CPU,TEMPLATE")
    imported = CORE.import_model(compiled.export_model(), "HETERO")
    generator = np.random.default_rng(0)
    for words in (1, 5, 9, 33, 64):
        inputs = [generator.standard_normal((2, words, 8), np.float32) for _ in "xy"]
        expected = reference(inputs)[0]
        for cut in (compiled, imported):
            np.testing.assert_allclose(cut(inputs)[0], expected, atol=1e-5)
