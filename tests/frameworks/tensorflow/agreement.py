"""Frozen graphs of functions, and their comparison with TensorFlow."""

from __future__ import annotations

import numpy as np

from hetero import Core


def frozen(function, *inputs) -> bytes:
    """Return the GraphDef of a function of arrays, with unknown dimensions where a shape in ``inputs`` has None.

    ``inputs``: arrays, or tf.TensorSpecs.
    """
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

    specs = [
        one if isinstance(one, tf.TensorSpec) else tf.TensorSpec(one.shape, one.dtype, name=f"x{index}")
        for index, one in enumerate(inputs)
    ]
    concrete = tf.function(function).get_concrete_function(*specs)
    constant = convert_variables_to_constants_v2(concrete, lower_control_flow=False)
    return constant.graph.as_graph_def().SerializeToString()


def assert_agrees(function, *arrays, specs=None, device="TEMPLATE", rtol=1e-4, atol=1e-5) -> None:
    """Compare the frozen graph of a function of tensors with what TensorFlow computes from the arrays."""
    import tensorflow as tf

    expected = [np.asarray(one) for one in tf.nest.flatten(function(*map(tf.constant, arrays)))]
    compiled = Core().compile_model(frozen(function, *(specs or arrays)), device)
    found = compiled([np.asarray(array) for array in arrays]).to_tuple()
    assert len(found) == len(expected)
    for result, want in zip(found, expected):
        if want.dtype == object:
            assert result.astype(object).tolist() == np.vectorize(bytes.decode, otypes=[object])(want).tolist()
            continue
        if np.iscomplexobj(want):
            want = np.stack([want.real, want.imag], -1)
        assert result.dtype == want.dtype and result.shape == want.shape
        np.testing.assert_allclose(result, want, rtol=rtol, atol=atol)
