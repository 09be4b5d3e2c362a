"""Export and import: imported models compute bitwise the same results as the compiled model."""

import io

import numpy as np
import pytest

from hetero import Core, Model, Op, Parameter, PartialShape, Type, ops
from hetero.graph import Attribute, texts
from hetero.reference.registry import evaluates
from hetero.system.errors import BlobError, PropertyError
from tests import zoo
from tests.devices import GPUS

core = Core()
DEVICES = ["TEMPLATE", "GPU"]


def small(shape=(-1, 2), element_type=Type.f32) -> Model:
    x = Parameter(element_type, shape, name="x")
    x.output(0).names = {"data", "x, too"}
    y = ops.Relu(x, name="relu")
    z = ops.Exp(y, name="exp")
    model = Model([y, z], [x], "small")
    model.outputs[1].names = {"raised"}
    return model


def counter() -> Model:
    """Return a model whose variable "sum" is 5 plus the sum of all inputs so far."""
    x = Parameter(Type.f32, [1], name="x")
    total = ops.Add(ops.ReadValue(np.float32([5]), variable_id="sum"), x)
    return Model([total], [x], "counter", sinks=[ops.Assign(total, variable_id="sum")])


def counter_in_bodies() -> Model:
    """Return a model that adds the variable "sum" (5 at first) to x. An If without readers adds 1 or 10 to "sum"."""
    x = Parameter(Type.f32, [1], name="x")
    branch = ops.If(ops.Greater(ops.ReduceSum(x, np.array([0]), False), np.float32(0)))
    bodies = []
    for step in (1, 10):
        parameter = Parameter(Type.f32, [1])
        total = ops.Add(ops.ReadValue(np.float32([5]), variable_id="sum"), np.float32([step]))
        bodies.append(Model([ops.Abs(parameter)], [parameter], sinks=[ops.Assign(total, variable_id="sum")]))
    branch.set_then_body(bodies[0])
    branch.set_else_body(bodies[1])
    branch.set_input(x.output(0), bodies[0].parameters[0], bodies[1].parameters[0])
    branch.set_output(bodies[0].results[0], bodies[1].results[0])
    before = ops.ReadValue(np.float32([5]), variable_id="sum")
    return Model([ops.Add(before, x)], [x], "counter in bodies", sinks=[branch])


def ports(compiled):
    return [
        (port.node.friendly_name, port.names, port.element_type, port.partial_shape)
        for port in compiled.inputs + compiled.outputs
    ]


@pytest.mark.parametrize("name", zoo.ONNX)
@pytest.mark.parametrize("device", ["TEMPLATE", GPUS[0]])
def test_models_of_the_zoo(device, name):
    compiled = core.compile_model(zoo.path(name), device)
    imported = core.import_model(compiled.export_model(), device)
    assert ports(imported) == ports(compiled)
    for shape in zoo.MODELS[name].shapes:
        data = zoo.inputs(name, shape=shape)
        for mine, other in zip(imported(data).to_tuple(), compiled(data).to_tuple()):
            np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("device", DEVICES)
class TestOnADevice:
    def test_ports_and_name_are_restored(self, device):
        compiled = core.compile_model(small(), device)
        imported = core.import_model(compiled.export_model(), device)
        assert ports(imported) == ports(compiled)
        assert imported.input("x, too") is imported.inputs[0]
        assert imported.get_property("NETWORK_NAME") == "small"

    def test_stream_is_positioned_at_the_begin_of_the_model(self, device):
        stream = io.BytesIO(b"before")
        stream.seek(6)
        assert core.compile_model(small(), device).export_model(stream) is None
        assert stream.tell() == 6
        x = np.float32([[1, -2]])
        result = core.import_model(stream, device)(x)["raised"]
        np.testing.assert_allclose(result, np.exp(np.maximum(x, 0)), rtol=1e-6)

    def test_imported_file_may_be_deleted(self, device, tmp_path):
        path = tmp_path / "model.blob"
        with open(path, "wb") as stream:
            core.compile_model(small(), device).export_model(stream)
        by_path = core.import_model(path, device)
        with open(path, "rb") as stream:
            by_file = core.import_model(stream, device)
        path.unlink()
        for imported in (by_path, by_file):
            np.testing.assert_array_equal(imported(np.float32([[1, -2]]))[0], [[1, 0]])

    def test_imported_model_can_be_exported(self, device):
        first = core.compile_model(small(), device).export_model().getvalue()
        assert core.import_model(first, device).export_model().getvalue() == first

    def test_options_are_exported_and_new_ones_take_precedence(self, device):
        blob = core.compile_model(small(), device, {"PERF_COUNT": True, "NUM_STREAMS": 3}).export_model().getvalue()
        imported = core.import_model(blob, device, {"NUM_STREAMS": 2})
        assert [imported.get_property(key) for key in ("PERF_COUNT", "NUM_STREAMS")] == [True, 2]
        with pytest.raises(PropertyError, match="PERF_COUNT .*cannot be 'perhaps'"):
            core.import_model(blob, device, {"PERF_COUNT": "perhaps"})

    def test_blob_of_another_device_is_rejected(self, device):
        other = Core()
        other.register_plugin(type(core.get_plugin(device)), "TWIN")
        blob = core.compile_model(small(), device).export_model()
        with pytest.raises(BlobError, match=f"the exported model is for device {device}, not for TWIN"):
            other.import_model(blob, "TWIN")

    def test_variables_are_not_exported(self, device):
        compiled = core.compile_model(counter(), device)
        request = compiled.create_infer_request()
        imported = core.import_model(compiled.export_model(), device).create_infer_request()
        assert [request.infer(np.float32([1]))[0].item() for _ in range(2)] == [6, 7]
        assert [imported.infer(np.float32([1]))[0].item() for _ in range(2)] == [6, 7]
        assert [state.name for state in imported.query_state()] == ["sum"]


def test_variables_in_bodies():
    compiled = core.compile_model(counter_in_bodies(), "TEMPLATE")
    inputs = [np.float32([sign]) for sign in (1, -1, 1)]
    results = []
    for model in (compiled, core.import_model(compiled.export_model(), "TEMPLATE")):
        request = model.create_infer_request()
        results.append([request.infer(array)[0].item() for array in inputs])
    assert results[0] == results[1] and len(set(results[0])) == 3


class OfTheUser(Op):
    inputs = ("x",)

    def validate_and_infer_types(self):
        self.set_output_type(0, self.get_input_element_type(0), self.get_input_partial_shape(0))


class Base(OfTheUser): ...


class Derived(Base): ...


class OtherBase(OfTheUser, type_name="Base"): ...


class Worded(OfTheUser):
    words = Attribute(texts)


@evaluates(OfTheUser, Base, Derived, OtherBase, Worded)
def half(node, x):
    return x / 2


def of(make) -> Model:
    x = Parameter(Type.f32, [2], name="x")
    return Model(make(x), [x], "small")


def named(node, name):
    node.friendly_name = name
    return node


CANNOT_BE_HELD = {
    "a sequence": (of(lambda x: ops.SequenceAt(ops.SequenceConstruct([x], name="list"), 0)), "'list' outputs sequence"),
    "two classes": (
        of(lambda x: OtherBase(Base(x), name="mine")),
        "'mine' and another operation have different classes Base",
    ),
    "an attribute": (
        of(lambda x: Worded(x, words=[""], name="mine")),
        r"attribute words is \('',\), which an IR",
    ),
    "a name": (of(lambda x: named(ops.Relu(x), "a\0b")), "XML cannot hold the character"),
}


@pytest.mark.parametrize("cls", [Base, Derived, OtherBase])
def test_custom_operation(cls):
    """The class is restored, even if several classes have the same name."""
    compiled = core.compile_model(of(cls), "TEMPLATE")
    assert list(cls(Parameter(Type.f32, [2])).type_info) == ["Base" if cls is OtherBase else cls.__name__, "extension"]
    imported = core.import_model(compiled.export_model(), "TEMPLATE")
    np.testing.assert_array_equal(imported(np.float32([1, 2]))[0], [0.5, 1])


@pytest.mark.parametrize(("model", "problem"), CANNOT_BE_HELD.values(), ids=CANNOT_BE_HELD)
def test_models_that_cannot_be_exported(model, problem):
    with pytest.raises(BlobError, match=f"model 'small' cannot be exported: .*{problem}"):
        core.compile_model(model, "TEMPLATE").export_model()


def test_blob_of_one_device_is_rejected_by_hetero():
    blob = core.compile_model(small(), "TEMPLATE").export_model()
    with pytest.raises(BlobError, match="is for device TEMPLATE, not for HETERO"):
        core.import_model(blob, "HETERO:TEMPLATE")


@pytest.mark.parametrize("device", [*DEVICES, "HETERO:TEMPLATE"])
def test_names_of_dimensions_come_back(device):
    model = small()
    model.reshape({"data": PartialShape("[?,2]").with_names({"0": "past + 1"})})
    imported = core.import_model(core.compile_model(model, device).export_model(), device)
    assert imported.input().partial_shape.described() == "[past + 1,2]"


def test_reshape_with_a_name_and_a_range():
    model = small()
    model.reshape("[batch=1..8,2]")
    assert model.input().partial_shape.described() == "[batch=1..8,2]"
    assert [output.partial_shape.described() for output in model.outputs] == ["[batch=1..8,2]"] * 2
