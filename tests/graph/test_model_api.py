"""The same calls on a Model give the same with OpenVINO and hetero."""

from importlib import import_module

import numpy as np
import pytest

import hetero
from hetero.system.errors import GraphError

PACKAGES = ("openvino", "hetero")


def make(package):
    """Return a model of two inputs, x and y, and two outputs, relu(x) + y and its exponential."""
    ov, opset = import_module(package), import_module(f"{package}.opset13")
    x, y = (opset.parameter([-1, 3], np.float32, name=name) for name in "xy")
    total = opset.add(opset.relu(x), y)
    return ov, opset, ov.Model([total, opset.exp(total)], [x, y], "model"), x, y


def parameters(ov, opset, model, x, y):
    added = opset.parameter([2], np.float32, name="added")
    found = [model.get_parameter_index(p) for p in (x, y, added)]
    model.add_parameters([added])
    found += [model.get_parameter_index(added), len(model.inputs)]
    model.remove_parameter(added)
    replacement = opset.parameter([4, 3], np.float32, name="z")
    model.replace_parameter(0, replacement)
    model.validate_nodes_and_infer_types()
    return [*found, len(model.parameters), str(model.output(0).partial_shape), model.parameters[0].friendly_name]


def results(ov, opset, model, x, y):
    total = model.results[0].input_value(0)
    found = [model.get_result_index(value) for value in (total, model.output(1), x.output(0))]
    added = opset.result(opset.sqrt(total))
    model.add_results([added])
    found += [len(model.outputs), model.get_output_size(), model.get_output_op(2).get_type_name()]
    model.remove_result(added)
    model.remove_result(model.results[1])
    return [*found, len(model.outputs), model.get_result().get_type_name(), str(model.get_output_partial_shape(0))]


def rt_info(ov, opset, model, x, y):
    model.set_rt_info("value", ["a", "b"])
    model.set_rt_info("other", "c")
    found = [model.has_rt_info(path) for path in ("a", ["a", "b"], ["a", "z"], "z", ["c"])]
    values = [model.get_rt_info(path) for path in (["a", "b"], "c")]
    return [*found, *(getattr(value, "value", value) for value in values)]


def names(ov, opset, model, x, y):
    model.set_friendly_name("renamed")
    x.output(0).set_names({"first", "second"})
    x.output(0).add_names({"third"})
    added = model.add_outputs([x.output(0)])
    return [
        model.get_friendly_name(), x.get_friendly_name(), x.friendly_name, sorted(model.input("second").names),
        len(added), len(model.outputs), model.dynamic, model.is_dynamic(), model.input("y").node.get_type_name(),
    ]  # fmt: skip


def shapes(ov, opset, model, x, y):
    model.reshape({"x": [2, 3], "y": [1, 3]}) if ov is hetero else model.reshape({0: [2, 3], 1: [1, 3]})
    static, dynamic = ov.PartialShape([2, 3]), ov.PartialShape([2, -1])
    one, other = ov.PartialShape([2, -1, ov.Dimension(1, 5)]), ov.PartialShape([-1, -1, 3])
    return [
        str(model.output(0).partial_shape), model.is_dynamic(), one.refines(other), one.relaxes(other),
        static.refines(dynamic), dynamic.relaxes(static),
        one.same_scheme(other), one.same_scheme(ov.PartialShape([2, -1, -1])), list(one.get_min_shape()),
        one.get_dimension(2).to_string(), ov.Dimension(2).refines(ov.Dimension(1, 3)), one.all_non_negative,
        ov.Dimension(2).same_scheme(ov.Dimension(2)), ov.Dimension().same_scheme(ov.Dimension(1, 4)),
    ]  # fmt: skip


@pytest.mark.parametrize("use", [parameters, results, rt_info, names, shapes], ids=lambda use: use.__name__)
def test_same_as_openvino(use):
    theirs, ours = (use(*make(package)) for package in PACKAGES)
    assert ours == theirs


def test_errors_for_nodes_and_rt_info_that_are_not_in_the_model():
    _, opset, model, *_ = make("hetero")
    stranger = opset.parameter([1], np.float32, name="stranger")
    with pytest.raises(GraphError, match="'stranger' is not in model 'model'"):
        model.remove_parameter(stranger)
    with pytest.raises(GraphError, match="there is no rt_info at a/b") as found:
        model.get_rt_info(["a", "b"])
    with pytest.raises(RuntimeError) as expected:  # programs look for OpenVINO's words in the message
        make("openvino")[2].get_rt_info(["a", "b"])
    assert str(expected.value).splitlines()[-1] in str(found.value)
    model.set_rt_info("value", "a")
    with pytest.raises(GraphError, match="rt_info a is a value, it cannot hold b"):
        model.set_rt_info("more", ["a", "b"])


def test_tensors_for_several_ports_at_once():
    _, _, model, *_ = make("hetero")
    request = hetero.Core().compile_model(model, "TEMPLATE").create_infer_request()
    x, y = (hetero.Tensor(np.full((2, 3), number, np.float32)) for number in (-1, 2))
    result = hetero.Tensor(hetero.Type.f32, [2, 3])
    request.set_input_tensors({0: x, "y": y})
    request.set_output_tensors({1: result})
    request.infer()
    np.testing.assert_allclose(result.data, np.exp(np.full((2, 3), 2.0)), rtol=1e-6)
    request.set_tensors({"x": y, 1: x})
    np.testing.assert_array_equal(request.infer()[0], np.full((2, 3), 1.0))


def test_outputs_of_another_model_are_outputs():
    """As programs do that add an output to a model."""

    def names(ov):
        ops = import_module(f"{ov.__name__}.opset13")
        x = ops.parameter([2, 3], np.float32)
        relu = ops.relu(x)
        relu.output(0).get_tensor().set_names({"first"})
        model = ov.Model([relu], [x])
        second = ops.exp(relu)
        second.output(0).get_tensor().set_names({"second"})
        extended = ov.Model([*model.outputs, second.output(0)], model.get_parameters())
        assert extended.results[0] == model.results[0]
        return [port.get_names() for port in extended.outputs], extended

    (found, model), (expected, _) = names(hetero), names(import_module("openvino"))
    assert found == expected
    x = np.float32([[-1, 0, 1], [2, -3, 0.5]])
    first, second = hetero.Core().compile_model(model, "TEMPLATE")(x).values()
    np.testing.assert_allclose(first, np.maximum(x, 0))
    np.testing.assert_allclose(second, np.exp(np.maximum(x, 0)), rtol=1e-6)
