"""User-defined operations with OpenCL C: an expression, or kernels."""

import re

import numpy as np
import pytest

from hetero import Core, Model, Op, Parameter, ops
from hetero.core.types import Type
from hetero.graph import Attribute
from hetero.system.errors import HeteroError, UnsupportedOperationError
from tests.devices import GPUS
from tests.interpreter import run_python

core = Core()
X = np.float32([[-2, -0.5, 0, 1], [0.5, 2, 3, -1], [4, -3, 0.25, 8]])
TOLERANCES = {"f32": 1e-6, "f16": 2e-3, "bf16": 2e-2}


class SameShape(Op):
    inputs = ("x",)

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


class CustomElu(SameShape):
    alpha = Attribute(float)
    beta = Attribute(float, 1.0)
    opencl_expression = "x > 0 ? beta * x : alpha * (exp(x) - 1.0)"

    def evaluate(self, outputs, inputs):
        x = inputs[0].data.astype(np.float32)
        outputs[0].data[:] = np.where(x > 0, self.beta * x, self.alpha * np.expm1(x))
        return True


class Blend(Op):
    """An operation in the style of OpenVINO, whose inputs have no names and broadcast."""

    def __init__(self, inputs=None, **attributes):
        super().__init__(self, inputs)
        self.attributes = {"share": 0.5, "times": 1, "turn": False, **attributes}

    opencl_expression = "times * (turn ? input1 - input0 : share * input0 + (1.0 - share) * input1)"

    def validate_and_infer_types(self):
        first, second = (self.get_input_partial_shape(index) for index in range(2))
        self.set_output_type(0, self.get_input_element_type(0), first if len(first) >= len(second) else second)

    def visit_attributes(self, visitor):
        visitor.on_attributes(self.attributes)
        return True


class IsBelow(Op):
    """An operation with boolean results and an expression that depends on an attribute."""

    inputs = ("x", "y")
    also = Attribute(bool, False)

    @property
    def opencl_expression(self):
        return "x <= y" if self.also else "x < y"

    def validate_and_infer_types(self):
        self.set_output_type(0, Type.boolean, self.get_input_partial_shape(0))


class RowSums(Op):
    """Weighted sums of rows in two kernels with a scratch buffer between them."""

    inputs = ("x",)
    scale = Attribute(float, 1.0)

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0)[:1])

    def opencl_kernels(self):
        from hetero_opencl.lowering.custom import Kernel, Scratch

        rows, columns = self.get_input_shape(0)
        weighted = Scratch(rows * columns)
        weights = np.arange(1, columns + 1, dtype=np.float32)
        types = {"DATA": self.get_element_type()}
        return [
            Kernel(SOURCE, "weigh", [self.input(0), weights, weighted], [columns, rows], [1, 1], types),
            Kernel(SOURCE, "sum", [weighted, self.output(0), columns, self.scale], [rows], types=types),
        ]


SOURCE = """\
kernel void weigh(global const DATA *x, global const float *weights, global float *weighted)
{
    const int place = get_global_id(1) * get_global_size(0) + get_global_id(0);
    weighted[place] = DATA_LOAD(x, place) * weights[get_global_id(0)];
}

kernel void sum(global const float *weighted, global DATA *sums, const int columns, const float scale)
{
    DATA_VALUE sum = 0;
    for (int i = 0; i < columns; i++)
        sum += weighted[get_global_id(0) * columns + i];
    DATA_STORE(scale * sum, get_global_id(0), sums);
}
"""


def x_of(shape=(3, 4), kind="f32"):
    return Parameter(kind, shape, name="x")


def run(model, *arrays, device):
    kinds = [parameter.element_type.to_dtype() for parameter in model.parameters]
    found = core.compile_model(model, device)([array.astype(kind) for array, kind in zip(arrays, kinds)])[0]
    return found if found.dtype.kind in "biu" else found.astype(np.float32)


def kernels_of(model, device):
    """Return the types of the operations that a device executes, with the kernels that run them."""
    nodes = core.compile_model(model, device).get_runtime_model().get_ordered_ops()
    executed = [(node.rt_info.get("layerType"), node.rt_info.get("primitiveType")) for node in nodes]
    return [pair for pair in executed if pair[0] not in ("Input", "Output", "Const")]


@pytest.mark.parametrize("device", GPUS)
@pytest.mark.parametrize("kind", TOLERANCES)
@pytest.mark.parametrize("shape", [(3, 4), (-1, 4)], ids=str)
def test_expressions(device, kind, shape):
    x = x_of(shape, kind)
    found = run(Model([CustomElu(x, alpha=0.5, beta=3)], [x]), X, device=device)
    tolerance = TOLERANCES[kind]
    np.testing.assert_allclose(found, np.where(X > 0, 3 * X, 0.5 * np.expm1(X)), tolerance, tolerance)


@pytest.mark.parametrize("device", GPUS)
@pytest.mark.parametrize("kind", TOLERANCES)
@pytest.mark.parametrize("shape", [(3, 4), (-1, 4)], ids=str)
def test_kernels(device, kind, shape):
    x = x_of(shape, kind)
    model = Model([RowSums(x, scale=0.5)], [x])
    np.testing.assert_allclose(run(model, X, device=device), 0.5 * X @ [1, 2, 3, 4], TOLERANCES[kind])


def chain(activation):
    """Return a model: a matrix product, then the activation between other element-wise operations."""
    x, other = x_of(), Parameter("f32", [4], name="y")
    product = ops.MatMul(x, np.eye(4, dtype=np.float32), False, False)
    return Model([ops.Add(ops.Exp(activation(ops.Negative(product))), other)], [x, other])


@pytest.mark.parametrize("device", GPUS)
def test_an_expression_is_fused_like_built_in_ones(device):
    custom, built_in = chain(lambda x: CustomElu(x, alpha=0.5)), chain(lambda x: ops.Elu(x, alpha=0.5))
    assert kernels_of(custom, device) == kernels_of(built_in, device) and len(kernels_of(custom, device)) == 1
    arrays = X, np.float32([1, 2, 3, 4])
    np.testing.assert_allclose(run(custom, *arrays, device=device), run(built_in, *arrays, device=device), 1e-6)


@pytest.mark.parametrize("device", GPUS)
@pytest.mark.parametrize("attributes", [{}, {"share": 0.25, "times": -3}, {"turn": True}], ids=str)
@pytest.mark.parametrize("shape", [(4,), (3, 1), ()], ids=str)
def test_inputs_without_names_that_broadcast(device, attributes, shape):
    x, y = x_of(), Parameter("f32", shape, name="y")
    other = np.arange(1, 1 + np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    share, times = attributes.get("share", 0.5), attributes.get("times", 1)
    expected = other - X if "turn" in attributes else times * (share * X + (1 - share) * other)
    for model in (Model([Blend([x, y], **attributes)], [x, y]), Model([Blend([x, other], **attributes)], [x])):
        found = run(model, *[X, other][: len(model.parameters)], device=device)
        np.testing.assert_allclose(found, expected, 1e-6, 1e-6)


@pytest.mark.parametrize("device", GPUS)
@pytest.mark.parametrize("kind", ["i32", "u8", "f16"])
def test_booleans_and_integers(device, kind):
    x, y = x_of(kind=kind), Parameter(kind, [3, 4], name="y")
    values = np.arange(12).reshape(3, 4)
    for also in (False, True):
        model = Model([IsBelow(x, y, also=also)], [x, y])
        found = run(model, values, values[::-1], device=device)
        assert found.dtype == bool
        np.testing.assert_array_equal(found, values <= values[::-1] if also else values < values[::-1])


@pytest.mark.parametrize("device", GPUS)
def test_in_bodies(device):
    x, again = x_of(), x_of()
    body = Model([CustomElu(again, alpha=1.0, beta=2.0), ops.Constant(np.array(True))], [again])
    loop = ops.Loop(np.int32(3), np.array(True))
    loop.set_function(body)
    loop.set_special_body_ports([-1, 1])
    loop.set_merged_input(again, x.output(0), body.results[0])
    model = Model([loop.get_iter_value(body.results[0].output(0), -1)], [x])
    np.testing.assert_allclose(run(model, X, device=device), run(model, X, device="TEMPLATE"), 1e-5)


class OnTheHost(SameShape):
    """An operation without OpenCL C."""

    def evaluate(self, outputs, inputs):
        outputs[0].data[:] = inputs[0].data + 1
        return True


@pytest.mark.parametrize("device", [*GPUS, *(f"HETERO:{name},TEMPLATE" for name in GPUS)])
def test_exported_and_imported(device):
    x = x_of()
    host = OnTheHost if "HETERO" in device else ops.Relu
    compiled = core.compile_model(Model([RowSums(host(CustomElu(ops.Negative(x), alpha=2.0)))], [x]), device)
    again = core.import_model(compiled.export_model(), device)
    np.testing.assert_array_equal(again([X])[0], compiled([X])[0])


@pytest.mark.parametrize("device", GPUS)
def test_each_operation_runs_on_a_device_that_supports_it(device):
    x = x_of()
    model = Model([RowSums(OnTheHost(CustomElu(x, alpha=2.0)))], [x])
    compiled = core.compile_model(model, f"HETERO:{device},TEMPLATE")
    placed = {o.type_name: o.device for o in compiled.get_property("PLACEMENT_REPORT").operations}
    assert placed == {"CustomElu": device, "OnTheHost": "TEMPLATE", "RowSums": device}
    expected = (np.where(X > 0, X, 2 * np.expm1(X)) + 1) @ [1, 2, 3, 4]
    np.testing.assert_allclose(compiled([X])[0], expected, 1e-5)


class BadExpression(CustomElu):
    opencl_expression = "x > 0 ? x : gamma * x"


class BadKernel(RowSums):
    source, name, more = SOURCE.replace("sum +=", "total +="), "sum", ()

    def opencl_kernels(self):
        from hetero_opencl.lowering.custom import Kernel

        x, types = self.input(0), {"DATA": self.get_element_type()}
        return [Kernel(self.source, self.name, [x, self.output(0), 4, 1.0, *self.more], [3], types=types)]


class NoSuchKernel(BadKernel):
    source, name = SOURCE, "product"


class TooManyArguments(BadKernel):
    source, more = SOURCE, (7,)


class NoArgument(BadKernel):
    source, more = SOURCE, ("text",)


class Raises(BadKernel):
    def opencl_kernels(self):
        return self.no_such_thing


HERE = re.escape(__file__)
FAILURES = {
    BadExpression: rf"cannot build the kernel of Exp '.*' with BadExpression 'mine' in {HERE}: .*identifier 'gamma'",
    BadKernel: rf"cannot build the kernel of BadKernel 'mine' with .* in {HERE}: .*:11:9.* identifier 'total'",
    NoSuchKernel: rf"making the kernel of NoSuchKernel 'mine' with NoSuchKernel 'mine' in {HERE}",
    TooManyArguments: rf"the kernel sum of TooManyArguments 'mine' .* in {HERE} takes 4 arguments, but is given 5",
    NoArgument: "NoArgument 'mine': 'text' cannot be the argument of a kernel; pass an input, output, Scratch",
    Raises: rf"Raises 'mine': opencl_kernels of Raises in {HERE}, line \d+, failed: AttributeError: .*no_such_thing",
}


@pytest.mark.parametrize("device", GPUS)
@pytest.mark.parametrize("cls", FAILURES, ids=lambda cls: cls.__name__)
def test_errors_name_the_operation_its_file_and_the_compilers_message(device, cls):
    x = x_of()
    node = cls(x, name="mine", **({"alpha": 1.0} if cls is BadExpression else {}))
    with pytest.raises(HeteroError, match=FAILURES[cls]):
        core.compile_model(Model([ops.Exp(node)], [x]), device)


@pytest.mark.parametrize("device", GPUS)
def test_another_device_runs_what_does_not_build(device):
    x = x_of()
    compiled = core.compile_model(Model([BadExpression(x, alpha=1.0)], [x]), f"HETERO:{device},TEMPLATE")
    np.testing.assert_allclose(compiled([X])[0], np.where(X > 0, X, np.expm1(X)), 1e-6)
    (operation,) = compiled.get_property("PLACEMENT_REPORT").operations
    assert operation.device == "TEMPLATE" and "gamma" in str(operation)


class Chosen(CustomElu):
    how = Attribute(str, "exp")
    opencl_expression = "how ? x : alpha"


class Reduced(SameShape):
    opencl_expression = "x"

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), [3])


class Picky(CustomElu):
    def opencl_unsupported_reason(self):
        return "alpha is odd" if self.alpha % 2 else None


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda x: Chosen(x, alpha=1), "attribute how = 'exp' cannot stand in an expression"),
        (Reduced, r"an expression makes an output of the shape to which \[3,4\] broadcast, not \[3\]"),
        (lambda x: Picky(x, alpha=1), "alpha is odd"),
        (OnTheHost, "no kernel for extension::OnTheHost"),
    ],
)  # fmt: skip
def test_unsupported_operations(make, reason):
    x = x_of()
    with pytest.raises(UnsupportedOperationError, match=reason):
        core.compile_model(Model([make(x)], [x]), GPUS[0])
    accepted = Model([Picky(x, alpha=2)], [x])
    assert run(accepted, X, device=GPUS[0]).shape == (3, 4)


@pytest.mark.slow
def test_the_module_for_authors_imports_no_opencl():
    code = "print([m for m in sys.modules if 'pyopencl' in m or '.kernels' in m])"
    assert run_python(f"import sys, hetero_opencl.lowering.custom; {code}")[0] == "[]"
