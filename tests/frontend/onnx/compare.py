"""Helpers that run a small ONNX model with the reference implementation and with ONNX Runtime."""

import numpy as np
import onnx
import onnxruntime
from onnx import helper

import hetero
from hetero.graph import Model, Parameter, Result, is_constant
from hetero.reference import evaluate


def make_model(nodes, inputs, outputs=("y",), initializers=None, opset=13, shapes=None):
    """Return an ONNX model. ``inputs``, ``initializers``: arrays by name. ``shapes``: declared input shapes."""
    shapes = shapes or {}
    graph = helper.make_graph(
        nodes,
        "graph",
        [
            helper.make_tensor_value_info(
                name, helper.np_dtype_to_tensor_dtype(array.dtype), shapes.get(name, array.shape)
            )
            for name, array in inputs.items()
        ],
        [onnx.ValueInfoProto(name=name) for name in outputs],
        [onnx.numpy_helper.from_array(array, name) for name, array in (initializers or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def operator_model(kind, inputs, attributes, outputs, domain="", opset=20) -> onnx.ModelProto:
    """A model of one operator: inputs x0, x1 … like the arrays, of which those of objects are strings; outputs y0 …"""
    types = [onnx.TensorProto.STRING if a.dtype == object else helper.np_dtype_to_tensor_dtype(a.dtype) for a in inputs]
    infos = [helper.make_tensor_value_info(f"x{i}", t, a.shape) for i, (t, a) in enumerate(zip(types, inputs))]
    names = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(kind, [info.name for info in infos], names, domain=domain, **attributes)
    graph = helper.make_graph([node], "graph", infos, [onnx.ValueInfoProto(name=name) for name in names])
    domains = {"": 18} | {domain: opset}
    imports = [helper.make_opsetid(name, version) for name, version in domains.items()]
    return helper.make_model(graph, opset_imports=imports, ir_version=8)


def assert_as_onnxruntime(
    proto: onnx.ModelProto, inputs: list[np.ndarray], tolerance: float = 1e-5, device: str = "TEMPLATE"
) -> None:
    """Assert that the device returns ONNX Runtime's types, shapes and results for an ``operator_model``."""
    expected = run_onnxruntime(proto, {f"x{i}": array for i, array in enumerate(inputs)})
    compiled = hetero.Core().compile_model(proto, device)
    results = compiled(list(inputs))
    for port, wanted in zip(compiled.outputs, expected.values(), strict=True):
        found = results[port]
        assert port.partial_shape.compatible(found.shape)
        assert found.shape == wanted.shape
        if wanted.dtype == object:
            assert found.dtype.kind == "U"
            assert found.tolist() == wanted.tolist()
        else:
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def run_reference(model: Model, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Evaluate a model operation by operation and return its outputs by name."""
    arrays = {}
    outputs = {}
    for node in model.get_ordered_ops():
        if isinstance(node, Parameter):
            results = [inputs[next(name for name in inputs if name in node.output(0).names)]]
        elif is_constant(node):
            results = [node.data]
        elif isinstance(node, Result):
            results = [arrays[node.input_value(0)]]
            outputs[node.output(0).any_name] = results[0]
        else:
            results = evaluate(node, [arrays[value] for value in node.input_values()])
        for output, array in zip(node.outputs(), results):
            assert output.partial_shape.compatible(array.shape), f"{node} made {array.shape}"
            arrays[output] = array
    return outputs


def run_onnxruntime(
    model: onnx.ModelProto | str, inputs: dict[str, np.ndarray], threads: int = 0
) -> dict[str, np.ndarray]:
    """Return ONNX Runtime's outputs of a model, or of the file at a path, by name; on all cores by default."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    source = model if isinstance(model, str) else model.SerializeToString()
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs)))


def assert_close(found: dict[str, np.ndarray], expected: dict[str, np.ndarray], tolerance: float = 1e-4) -> None:
    """Assert equal names, types and shapes, and no difference above ``tolerance`` of the largest magnitude."""
    assert list(found) == list(expected)
    for name, wanted in expected.items():
        array = found[name]
        assert (array.dtype, array.shape) == (wanted.dtype, wanted.shape), name
        if wanted.dtype.kind not in "fV":
            np.testing.assert_array_equal(array, wanted)
            continue
        array, wanted = array.astype(np.float64), wanted.astype(np.float64)
        finite = np.isfinite(wanted)
        np.testing.assert_array_equal(np.isfinite(array), finite)
        np.testing.assert_array_equal(array[~finite], wanted[~finite])
        largest = np.abs(wanted[finite]).max(initial=0)
        assert np.abs(array[finite] - wanted[finite]).max(initial=0) <= tolerance * largest
