"""nncf: compresses the weights of a block of a transformer to int8 and to int4, saves both and runs them."""

import sys

import nncf
import numpy as np
import openvino as ov
from openvino import opset13 as ops

SIZE = 128
random = np.random.default_rng(0)


def linear(x: ov.Node, outputs: int, inputs: int) -> ov.Node:
    weights = random.standard_normal((outputs, inputs)).astype(np.float32) / np.sqrt(inputs)
    return ops.matmul(x, ops.constant(weights.astype(np.float32)), False, True)


def make_model() -> ov.Model:
    ids = ops.parameter([1, -1], np.int64, name="ids")
    ids.output(0).set_names({"ids"})
    table = ops.constant(random.standard_normal((1000, SIZE)).astype(np.float32))
    x = ops.gather(table, ids, ops.constant(0))
    query, key, value = (linear(x, SIZE, SIZE) for _ in range(3))
    x = ops.add(x, linear(ops.scaled_dot_product_attention(query, key, value), SIZE, SIZE))
    x = ops.add(x, linear(ops.gelu(linear(x, 4 * SIZE, SIZE), "erf"), SIZE, 4 * SIZE))
    return ov.Model([linear(x, 1000, SIZE)], [ids], "block")


results = {}
for mode in (nncf.CompressWeightsMode.INT8_ASYM, nncf.CompressWeightsMode.INT4_SYM):
    random = np.random.default_rng(0)
    options = {"group_size": 64, "ratio": 0.8} if mode is nncf.CompressWeightsMode.INT4_SYM else {}
    model = nncf.compress_weights(make_model(), mode=mode, **options)
    ov.save_model(model, f"{mode.value}.xml")
    compiled = ov.Core().compile_model(f"{mode.value}.xml", "CPU")
    results[mode.value] = compiled({"ids": np.array([[1, 5, 999, 2, 0]])})[0]
    results[f"{mode.value} types"] = sorted(
        op.get_element_type().to_string() for op in model.get_ops() if op.get_type_name() == "Constant"
    )
np.savez(sys.argv[1], **results)
