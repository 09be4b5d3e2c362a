"""Device HETERO: placement, information that survives the cut, and mistakes of users."""

import numpy as np
import pytest

from hetero import Model, Parameter, PartialShape, Tensor, Type, ops
from hetero.graph.rt_info import AFFINITY
from hetero.passes import keeps_values
from hetero.plugin import Device
from hetero.properties import Property
from hetero.system.errors import DeviceError, HeteroError, PropertyError, UnsupportedOperationError
from tests.devices import PickyPlugin, core_with


def chain() -> Model:
    """x → relu → exp → tanh, of a dynamic number of rows."""
    x = Parameter(Type.f32, [-1, 4], name="x")
    x.output(0).names = {"x"}
    tanh = ops.Tanh(ops.Exp(ops.Relu(x, name="relu"), name="exp"), name="tanh")
    tanh.output(0).names = {"y"}
    return Model(tanh, [x], "chain")


def only(*kinds):
    return PickyPlugin(lambda node: node.type_info.name in kinds)


X = np.array([[-1, 0, 0.5, 2]], np.float32)
Y = np.tanh(np.exp(np.maximum(X, 0)))


@pytest.mark.parametrize(
    ("first", "pins", "patterns", "expected"),
    [
        (("Relu", "Exp", "Tanh"), {}, {}, ["A"] * 3),
        (("Relu", "Tanh"), {}, {}, ["A", "B", "A"]),
        ((), {}, {}, ["B"] * 3),
        (("Relu", "Exp", "Tanh"), {"exp": "B"}, {}, ["A", "B", "A"]),
        (("Relu", "Tanh"), {"tanh": "B"}, {}, ["A", "B", "B"]),
        (("Relu", "Exp", "Tanh"), {}, {"*": "B"}, ["B"] * 3),
        (("Relu", "Exp", "Tanh"), {}, {"*": "B", "relu": "A", "t*": "A"}, ["A", "B", "A"]),
    ],
)
def test_placement(first, pins, patterns, expected):
    model = chain()
    for node in model.get_ordered_ops():
        if node.friendly_name in pins:
            node.rt_info[AFFINITY] = pins[node.friendly_name]
    core = core_with(A=only(*first), B=PickyPlugin())
    options = {"AFFINITIES": patterns}
    compiled = core.compile_model(model, "HETERO:A,B", options)
    report = compiled.get_property("PLACEMENT_REPORT")
    assert [o.device for o in report.operations] == expected
    np.testing.assert_allclose(compiled(X)["y"], Y, rtol=1e-6)
    queried = core.query_model(model, "HETERO:A,B", options)
    assert [queried[name] for name in ("relu", "exp", "tanh")] == expected


class TwoKinds(PickyPlugin):
    """Two devices, of which the second one has a property more."""

    speed = Property("SPEED", int, 1)

    def devices(self):
        return [Device("0"), Device("1")]

    def properties_of(self, device, values):
        return [*self.supported_properties, *([self.speed] if device.id == "1" else [])]


def test_a_property_of_one_device_of_a_kind():
    core = core_with(A=TwoKinds(lambda node: node.type_info.name == "Relu"), B=PickyPlugin())
    with pytest.raises(PropertyError, match="A has no property SPEED"):
        core.compile_model(chain(), "A.0", {"SPEED": 3})
    with pytest.raises(PropertyError, match="HETERO has no property SPEED"):
        core.compile_model(chain(), "HETERO:A.0,B", {"SPEED": 3})
    compiled = core.compile_model(chain(), "HETERO:A.1,B", {"SPEED": 3})
    np.testing.assert_allclose(compiled(X)["y"], Y, rtol=1e-6)
    (on_a,) = [step.compiled for step in compiled._compiled.plan.steps if step.device == "A.1"]
    assert on_a.get_property("SPEED") == 3


def test_the_model_of_the_user_is_not_changed():
    model = chain()
    core = core_with(A=PickyPlugin())
    core.compile_model(model, "HETERO:A", {"AFFINITIES": {"*": "A"}})
    assert all(AFFINITY not in node.rt_info for node in model.get_ordered_ops())


def test_information_about_shapes_survives_the_cut():
    """The pattern of the Reshape comes from another device, and B still knows that there are 8 columns."""
    x = Parameter(Type.f32, [-1, 2, 4], name="x")
    x.output(0).names = {"image"}
    relu = ops.Relu(x, name="relu")
    relu.output(0).names = {"features"}
    rows = ops.Gather(ops.ShapeOf(relu, name="shape"), np.int64([0]), np.int64(0), name="gather")
    pattern = ops.Concat([rows, np.int64([8])], 0)
    pattern.friendly_name = "concat"
    model = Model(ops.Reshape(relu, pattern, False, name="reshape"), [x], "flatten")
    b = PickyPlugin()
    core = core_with(A=PickyPlugin(), B=b)
    compiled = core.compile_model(model, "HETERO:A,B", {"AFFINITIES": {"reshape": "B"}})
    (on_b,) = b.compiled
    assert on_b.outputs[0].partial_shape == PartialShape([-1, 8])
    assert {"features"} in [port.names for port in on_b.inputs]
    assert compiled(np.ones([3, 2, 4], np.float32))[0].shape == (3, 8)
    model.reshape([5, 2, 4])
    b.compiled.clear()
    compiled = core.compile_model(model, "HETERO:A,B", {"AFFINITIES": {"reshape": "B"}})
    (on_b,) = b.compiled
    assert len(on_b.inputs) == 1  # the pattern is a Constant, so it is not copied
    assert [o.device for o in compiled.get_property("PLACEMENT_REPORT").operations][-1] == "B"


def test_inputs_constants_and_shared_values_as_outputs():
    x = Parameter(Type.f32, [2], name="x")
    relu = ops.Relu(x)
    model = Model([x, ops.Constant(np.float32([7])), relu, relu], [x])
    compiled = core_with(A=PickyPlugin()).compile_model(model, "HETERO:A")
    for value in ([1.0, -1.0], [-3.0, 2.0]):
        given, constant, first, second = compiled([np.float32(value)]).to_tuple()
        np.testing.assert_array_equal(given, value)
        np.testing.assert_array_equal(constant, [7])
        np.testing.assert_array_equal(first, np.maximum(value, 0))
        np.testing.assert_array_equal(second, np.maximum(value, 0))


class Counting(PickyPlugin):
    """Counts its queries, its tables of properties, and the models that it transforms."""

    queries = transformations = tables = 0

    def property_table(self, options):
        self.tables += 1
        return super().property_table(options)

    def query_model(self, model, options):
        self.queries += 1
        return super().query_model(model, options)

    @keeps_values
    def transform_model(self, model, properties):
        self.transformations += 1
        return super().transform_model(model, properties)


@pytest.mark.parametrize(
    ("refused", "pins", "queries", "transformations"),
    [
        ((), {}, (1, 0, 0), (1, 0, 0)),
        (("Exp",), {}, (1, 1, 0), (1, 1, 0)),
        ((), {"exp": "C"}, (1, 0, 1), (1, 0, 1)),
        ((), {"*": "B"}, (0, 1, 0), (0, 1, 0)),
    ],
)
def test_devices_are_queried_and_transform_models_only_as_needed(refused, pins, queries, transformations):
    """One transformation for each device that may get operations; its parts are cut out of what that made."""
    a, b, c = Counting(lambda node: node.type_info.name not in refused), Counting(), Counting()
    compiled = core_with(A=a, B=b, C=c).compile_model(chain(), "HETERO:A,B,C", {"AFFINITIES": pins})
    np.testing.assert_allclose(compiled(X)[0], Y, rtol=1e-6)
    assert (a.queries, b.queries, c.queries) == queries
    assert (a.transformations, b.transformations, c.transformations) == transformations
    # Its keys, the check of its options, and those of the query, however many parts it gets.
    assert [device.tables for device in (a, b, c)] == [2 + count for count in queries]


def test_a_query_names_an_assign_that_another_one_overwrites():
    x = Parameter(Type.f32, [2], name="x")
    read = ops.ReadValue(np.zeros([2], np.float32), "v", name="read")
    first, second = (ops.Assign(ops.Add(read, x), "v", name=name) for name in ("first", "second"))
    model = Model([ops.Relu(read)], [x], "overwritten", sinks=[first, second])
    queried = core_with(A=PickyPlugin()).query_model(model, "HETERO:A")
    assert queried.keys() == {node.friendly_name for node in model.get_ordered_ops()}


@pytest.mark.parametrize("placement", ["MIN_CUT", "PIPELINE"])
def test_placement_by_cost_queries_all_devices(placement):
    a, b = Counting(), Counting()
    core_with(A=a, B=b).query_model(chain(), "HETERO:A,B", {"PLACEMENT": placement})
    assert (a.queries, b.queries) == (1, 1)


def test_tensors_of_the_user_are_written_in_place():
    core = core_with(A=only("Relu", "Tanh"), B=PickyPlugin())
    request = core.compile_model(chain(), "HETERO:A,B").create_infer_request()
    memory = np.zeros([1, 4], np.float32)
    request.set_tensor("y", Tensor(memory, shared_memory=True))
    request.infer({"x": X})
    np.testing.assert_allclose(memory, Y, rtol=1e-6)


def test_profile_names_the_subgraphs():
    core = core_with(A=only("Relu", "Tanh"), B=PickyPlugin())
    request = core.compile_model(chain(), "HETERO:A,B", {"PERF_COUNT": "YES"}).create_infer_request()
    request.infer(X)
    infos = request.profiling_info
    assert [(i.node_name, i.exec_type) for i in infos if i.node_type == "Subgraph"] == [
        ("subgraph 0", "A"),
        ("subgraph 1", "B"),
        ("subgraph 2", "A"),
    ]
    assert [i.node_name for i in infos if i.node_type not in ("Subgraph", "Stage")] == ["relu", "exp", "tanh"]


def test_properties_reach_the_devices_that_have_them():
    core = core_with(A=PickyPlugin(), B=PickyPlugin())
    compiled = core.compile_model(chain(), "HETERO:A,B", {"DEVICE_PROPERTIES": {"A": {"NUM_STREAMS": 3}}})
    assert compiled.get_property("EXECUTION_DEVICES") == ["A"]
    with pytest.raises(PropertyError, match="NO_SUCH_KEY"):
        core.compile_model(chain(), "HETERO:A,B", {"NO_SUCH_KEY": 1})


@pytest.mark.parametrize(
    ("device", "options", "error", "message"),
    [
        ("HETERO", {}, DeviceError, "is given no devices.*as in HETERO:"),
        ("HETERO:A,A", {}, DeviceError, "names a device twice|each device once"),
        ("HETERO:A,NOPE", {}, DeviceError, "there is no device NOPE; there are .*A"),
        ("HETERO:A,,B", {}, DeviceError, "is not a device string"),
        ("HETERO:A,B", {"AFFINITIES": {"relu": "C"}}, DeviceError, "'relu' is pinned to C.*A, B"),
        ("HETERO:A,B", {"AFFINITIES": {"exp": "A"}}, DeviceError, "'exp' is pinned .*A is picky.*able: B"),
        ("HETERO:A,B", {"AFFINITIES": {"conv*": "A"}}, DeviceError, "'conv\\*' matches no operation"),
        ("HETERO:A,B", {"DEVICE_PROPERTIES": {"C": {}}}, DeviceError, "C, which is not among the devices A, B"),
        ("HETERO:A", {}, UnsupportedOperationError, "HETERO:A cannot run Exp 'exp' .A: A is picky"),
    ],
)
def test_error_messages_are_one_sentence(device, options, error, message):
    core = core_with(A=only("Relu", "Tanh"), B=PickyPlugin())
    with pytest.raises(error, match=message) as caught:
        core.compile_model(chain(), device, options)
    assert isinstance(caught.value, HeteroError) and "\n" not in str(caught.value)


def counter() -> Model:
    """The sum of all inputs so far, in the variable "sum"."""
    x = Parameter(Type.f32, [4], name="x")
    total = ops.Add(ops.ReadValue(np.zeros(4, np.float32), "sum", name="read"), x, name="add")
    return Model(total, [x], sinks=[ops.Assign(total, "sum", name="assign")])


@pytest.mark.parametrize(
    ("first", "pins", "expected"),
    [
        (("ReadValue", "Assign"), {}, {"read": "A", "add": "B", "assign": "A"}),
        (("ReadValue", "Add"), {}, {"read": "B", "add": "A", "assign": "B"}),
        (("ReadValue", "Add", "Assign"), {"assign": "B"}, {"read": "B", "add": "A", "assign": "B"}),
    ],
)
def test_variables_cross_the_cut(first, pins, expected):
    model = counter()
    for node in model.get_ordered_ops():
        if node.friendly_name in pins:
            node.rt_info[AFFINITY] = pins[node.friendly_name]
    compiled = core_with(A=only(*first), B=PickyPlugin()).compile_model(model, "HETERO:A,B")
    assert {o.name: o.device for o in compiled.get_property("PLACEMENT_REPORT").operations} == expected
    request = compiled.create_infer_request()
    assert [float(request.infer([np.ones(4, np.float32)])[0][0]) for _ in range(3)] == [1, 2, 3]
    (state,) = request.query_state()
    np.testing.assert_array_equal(state.state.data, [3] * 4)
    state.state = Tensor(np.full(4, 10, np.float32))
    assert float(request.infer([np.ones(4, np.float32)])[0][0]) == 11
    request.reset_state()
    assert float(request.infer([np.ones(4, np.float32)])[0][0]) == 1
