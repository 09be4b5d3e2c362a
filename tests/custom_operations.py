"""User-defined operations in the styles of OpenVINO and hetero, and models of them."""

import numpy as np
import openvino

import hetero
from hetero import Op
from hetero.graph import Attribute, integers

X = np.float32([[-2, -0.5, 0], [0.5, 2, 3]])


def visited(ov, **defaults):
    """Return a class in the manner of openvino.Op with these attributes, which computes alpha times its input."""

    class Visited(ov.Op):
        def __init__(self, inputs=None, attributes=None):
            super().__init__(self)
            self.attributes = {**defaults, **(attributes or {})}
            if inputs is not None:
                self.set_arguments(inputs)
                self.constructor_validate_and_infer_types()

        def validate_and_infer_types(self):
            self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

        def visit_attributes(self, visitor):
            visitor.on_attributes(self.attributes)
            return True

        def clone_with_new_inputs(self, inputs):
            return type(self)(inputs, self.attributes)

        def evaluate(self, outputs, inputs):
            outputs[0].data[...] = self.attributes["alpha"] * inputs[0].data
            return True

    return Visited


def classes(ov):
    """Return operations in all styles of the guide and the tests of OpenVINO's Python API."""

    class Identity(ov.Op):
        def __init__(self, inputs=None, **attrs):
            super().__init__(self, inputs)
            self._attrs = attrs

        def validate_and_infer_types(self):
            self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

        def clone_with_new_inputs(self, new_inputs):
            return Identity(new_inputs, **self._attrs)

        def evaluate(self, outputs, inputs):
            outputs[0].shape = inputs[0].shape
            inputs[0].copy_to(outputs[0])
            return True

        def has_evaluate(self):
            return True

        def visit_attributes(self, visitor):
            visitor.on_attributes(self._attrs)
            return True

    class Scaled(visited(ov, factor=1.0, times=1, names=[""], negate=False, note="none")):
        """An operation with typed attributes and its own type info."""

        class_type_info = ov.DiscreteTypeInfo("ScaledSum", "extension")

        def get_type_info(self):
            return Scaled.class_type_info

        def evaluate(self, outputs, inputs):
            sign = -1 if self.attributes["negate"] else 1
            total = inputs[0].data + inputs[1].data
            outputs[0].data[...] = sign * self.attributes["times"] * self.attributes["factor"] * total
            return True

    class Halves(ov.Op):
        """An operation with two outputs, and inputs as separate arguments."""

        def __init__(self, *inputs):
            super().__init__(self, inputs)

        def validate_and_infer_types(self):
            shape = self.get_input_partial_shape(0)
            half = ov.PartialShape([shape[0], shape[1].get_length() // 2])
            self.set_output_size(2)
            for index in range(2):
                self.set_output_type(index, self.get_input_element_type(0), half)

        def clone_with_new_inputs(self, inputs):
            return Halves(*inputs)

        def evaluate(self, outputs, inputs):
            half = inputs[0].shape[1] // 2
            for index, output in enumerate(outputs):
                output.shape = [inputs[0].shape[0], half]
                output.data[:] = inputs[0].data[:, index * half : (index + 1) * half]
            return True

        def has_evaluate(self):
            return True

    return Identity, Scaled, Halves


def opset(ov):
    return openvino.opset14 if ov is openvino else hetero.opset14


def described(node):
    """Return the properties of a node that both libraries have."""
    return {
        "type": (node.get_type_info().name, node.get_type_info().version_id, node.get_type_name()),
        "attributes": node.get_attributes(),
        "inputs": [list(port.get_shape()) for port in node.inputs()],
        "outputs": [(str(p.get_partial_shape()), p.get_element_type().get_type_name()) for p in node.outputs()],
    }


def built(ov, shape=(2, 4)):
    """Return a model with all three operations, and their classes."""
    identity, scaled, halves = classes(ov)
    parameter = opset(ov).parameter(list(shape), np.float32, name="x")
    first = identity([parameter], alpha=1.5, number=3, text="a b", flag=True, numbers=[1, 2])
    first.set_friendly_name("first")
    parts = halves(first)
    parts.set_friendly_name("parts")
    total = scaled()
    total.attributes.update(factor=0.5, times=3, names=["p", "q"], negate=True)
    total.set_arguments([parts.output(0), parts.output(1)])
    total.constructor_validate_and_infer_types()
    total.set_friendly_name("total")
    return ov.Model([opset(ov).result(total)], [parameter], "model"), (identity, scaled, halves)


def nodes(model):
    return {node.get_friendly_name(): described(node) for node in model.get_ordered_ops() if node.get_output_size() > 0}


def infer(ov, model, array):
    compiled = ov.Core().compile_model(model, "CPU" if ov is openvino else "TEMPLATE")
    return compiled(array)[0].tolist()


class Power(Op):
    """x to the power of ``exponent``, plus ``shift`` if that input is connected, declared in the style of hetero."""

    inputs = ("x", "shift?")
    exponent = Attribute(float, 2.0)
    order = Attribute(integers, ())

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))

    def evaluate(self, outputs, inputs):
        outputs[0].data[:] = inputs[0].data ** self.exponent
        if self.has_input("shift"):
            outputs[0].data[:] += inputs[1].data
        return True
