"""Parts cut out of prepared models: what is prepared, what is prepared apart, and what the devices get.

Expected values are those of numpy.
"""

import numpy as np
import pytest

from hetero import Model, Parameter, Type, ops
from hetero.graph import is_terminal
from hetero.passes import (
    fold_batch_norm,
    fold_constants,
    fuse_gelu,
    keeps_values,
    remove_identities,
    split_batch_norm,
)
from tests.devices import PickyPlugin, core_with

FILTERS = np.float32([[[[2.0]], [[-1.0]]], [[[0.5]], [[3.0]]]])
SCALE, SHIFT, MEAN, VARIANCE = (np.float32(row) for row in ([2, 3], [1, -1], [0.5, 0.25], [4, 9]))
X = np.linspace(-2, 2, 18, dtype=np.float32).reshape(1, 2, 3, 3)
EPSILON = 1e-5


class Fusing(PickyPlugin):
    """Folds BatchNorm into convolutions, and counts what it transforms and compiles."""

    passes = (fold_constants, remove_identities, split_batch_norm, fold_batch_norm, fuse_gelu)

    def __init__(self, accepts=lambda node: True):
        super().__init__(accepts)
        self.transformed = []

    @keeps_values
    def transform_model(self, model, properties):
        self.transformed.append(sorted(n.friendly_name for n in model.get_ordered_ops() if not is_terminal(n)))
        return super().transform_model(model, properties)


def network():
    """Relu, Convolution, BatchNorm, Relu, Tanh, and a second output after the Convolution."""
    x = Parameter(Type.f32, X.shape, name="x")
    first = ops.Relu(x, name="first")
    product = ops.Convolution(first, FILTERS, [1, 1], [0, 0], [0, 0], [1, 1], name="product")
    normal = ops.BatchNormInference(product, SCALE, SHIFT, MEAN, VARIANCE, EPSILON, name="normal")
    return Model([ops.Tanh(ops.Relu(normal, name="last"), name="tanh")], [x], "network")


def expected():
    product = np.einsum("oi,nihw->nohw", FILTERS[:, :, 0, 0], np.maximum(X, 0))
    scale = SCALE / np.sqrt(VARIANCE + EPSILON)
    normal = product * scale[:, None, None] + (SHIFT - MEAN * scale)[:, None, None]
    return np.tanh(np.maximum(normal, 0))


def compile_with(pins, a, b, model=None):
    return core_with(A=a, B=b).compile_model(model or network(), "HETERO:A,B", {"AFFINITIES": pins})


def operations(prepared):
    return [node.type_info.name for node in prepared.get_ordered_ops() if not is_terminal(node)]


def test_parts_have_what_the_device_made_of_the_whole_model():
    """Convolution and Add on A are what became of Convolution and BatchNorm; nothing is prepared again."""
    a, b = Fusing(), Fusing()
    compiled = compile_with({"tanh": "B"}, a, b)
    np.testing.assert_allclose(compiled(X)[0], expected(), rtol=1e-5)
    assert (len(a.transformed), len(b.transformed)) == (1, 1)
    (part,) = a.compiled
    assert operations(part) == ["Relu", "Convolution", "Add", "Relu"]
    report = compiled.get_property("PLACEMENT_REPORT")
    assert [s.apart for s in report.subgraphs] == [(), ()]
    assert [s.operations for s in report.subgraphs] == [("first", "product", "normal", "last"), ("tanh",)]


def test_only_the_operations_of_a_fusion_across_the_cut_are_prepared_apart():
    a, b = Fusing(), Fusing()
    compiled = compile_with({"normal": "B", "last": "B", "tanh": "B"}, a, b)
    np.testing.assert_allclose(compiled(X)[0], expected(), rtol=1e-5)
    assert a.transformed[1:] == [["product"]] and b.transformed[1:] == [["normal"]]
    assert operations(a.compiled[0]) == ["Relu", "Convolution"]
    assert operations(b.compiled[0]) == ["Multiply", "Add", "Relu", "Tanh"]
    report = compiled.get_property("PLACEMENT_REPORT")
    assert [s.apart for s in report.subgraphs] == [("product",), ("normal",)]
    assert "transformed apart, as fusions would cross the boundary: product" in str(report)


def test_a_part_of_which_nothing_is_left_passes_its_input_on():
    """A removes the Reshape, which changes nothing."""
    x = Parameter(Type.f32, [2], name="x")
    first = ops.Exp(ops.Negative(x, name="negative"), name="exp")
    same = ops.Reshape(first, np.int64([2]), False, name="same")
    model = Model([ops.Negative(same, name="end")], [x], "identity")
    a, b = Fusing(), Fusing()
    compiled = compile_with({"negative": "B", "exp": "B", "end": "B"}, a, b, model)
    np.testing.assert_allclose(compiled(np.float32([1, 2]))[0], -np.exp(np.float32([-1, -2])), rtol=1e-6)
    assert [operations(part) for part in a.compiled] == [[]]
    assert len(a.transformed) == 1


def test_an_operation_that_runs_only_in_a_fusion_is_refused_before_anything_is_compiled():
    """A runs Erf only in a Gelu, of which a pin takes the last operation: B gets it, and A fails at nothing."""
    x = Parameter(Type.f32, [4], name="x")
    half = ops.Multiply(x, np.float32([0.5]), name="half")
    scaled = ops.Multiply(x, np.float32([0.5**0.5]), name="scaled")
    sum_ = ops.Add(ops.Erf(scaled, name="erf"), np.float32([1]), name="sum")
    model = Model([ops.Exp(ops.Multiply(half, sum_, name="gelu"), name="exp")], [x], "gelu")
    a, b = Fusing(lambda node: node.type_info.name != "Erf"), Fusing()
    whole = core_with(A=a, B=b).compile_model(model, "HETERO:A,B")
    assert {o.device for o in whole.get_property("PLACEMENT_REPORT").operations} == {"A"}
    a.compiled.clear()
    queried = core_with(A=a, B=b).query_model(model, "HETERO:A,B", {"AFFINITIES": {"gelu": "B"}})
    compiled = compile_with({"gelu": "B"}, a, b, model)
    values = np.float32([-1, 0, 1, 2])
    np.testing.assert_allclose(compiled(values)[0], whole(values)[0], rtol=1e-5)
    report = compiled.get_property("PLACEMENT_REPORT")
    assert {o.name: o.device for o in report.operations} == {o.name: queried[o.name] for o in report.operations}
    assert queried["erf"] == "B"
    assert report.failures == ()
    assert not any("Erf" in operations(part) for part in a.compiled)


def test_a_pinned_operation_that_runs_only_in_a_fusion_is_an_error_that_names_it():
    x = Parameter(Type.f32, [4], name="x")
    model = Model([ops.Gelu(ops.Exp(x, name="exp"), "erf", name="gelu")], [x], "gelu")
    a = Fusing(lambda node: node.type_info.name != "Gelu")
    with pytest.raises(RuntimeError, match="'gelu' is pinned to a device that cannot run it"):
        compile_with({"gelu": "A"}, a, Fusing(), model)


def scale_weights_in_place(model):
    """Multiply the weights of a product by the factor of the Multiply after it, which goes."""
    for node in model.get_ordered_ops():
        product = node.input_value(0).node if isinstance(node, ops.Multiply) else None
        if isinstance(product, ops.MatMul):
            factor = node.input_value(1).node
            product.input(1).replace_source_output(
                ops.Constant(product.input_value(1).node.data * factor.data).output(0)
            )
            node.output(0).replace(product.output(0))
    return True


def scale_alpha_in_place(model):
    """Multiply the attribute alpha of an Elu of negative numbers by the factor of the Multiply after it, which goes."""
    for node in model.get_ordered_ops():
        elu = node.input_value(0).node if isinstance(node, ops.Multiply) else None
        if isinstance(elu, ops.Elu):
            elu.alpha *= node.input_value(1).node.data.item()
            node.output(0).replace(elu.output(0))
    return True


def scale_weights_after_the_scale(model):
    """Multiply the weights of a product by the factor of the Multiply before it, which goes."""
    for node in model.get_ordered_ops():
        scale = node.input_value(0).node if isinstance(node, ops.MatMul) else None
        if isinstance(scale, ops.Multiply):
            weights = node.input_value(1).node.data * scale.input_value(1).node.data
            node.input(1).replace_source_output(ops.Constant(weights).output(0))
            scale.output(0).replace(scale.input_value(0))
    return True


def scale_bodies(model):
    """Multiply what the branches of an If return by the factor of the Multiply after it, which goes."""
    for node in model.get_ordered_ops():
        branching = node.input_value(0).node if isinstance(node, ops.Multiply) else None
        if isinstance(branching, ops.If):
            for body in branching.bodies:
                (factor,) = (inner.input(1) for inner in body.get_ordered_ops() if isinstance(inner, ops.Multiply))
                scaled = factor.get_source_output().node.data * node.input_value(1).node.data
                factor.replace_source_output(ops.Constant(scaled).output(0))
            node.output(0).replace(branching.output(0))
    return True


OPERATIONS = ("smaller", "product", "scaled", "negative", "elu", "larger", "if", "branched", "end")


@pytest.mark.parametrize("pinned", OPERATIONS)
@pytest.mark.parametrize(
    "change", [scale_weights_in_place, scale_alpha_in_place, scale_weights_after_the_scale, scale_bodies]
)
def test_passes_that_change_operations_in_place_do_not_change_what_parts_compute(change, pinned):
    """A's pass changes what operations have, and is not marked as one that keeps values; B has no passes."""
    x = Parameter(Type.f32, [2, 2], name="x")
    smaller = ops.Multiply(x, np.float32(0.1), name="smaller")
    product = ops.MatMul(smaller, np.float32([[1, 2], [3, 4]]), False, False, name="product")
    scaled = ops.Multiply(product, np.float32(10), name="scaled")
    elu = ops.Elu(ops.Negative(ops.Abs(scaled, name="abs"), name="negative"), 1.0, name="elu")
    larger = ops.Multiply(elu, np.float32(3), name="larger")
    branching = ops.If(ops.Less(ops.ReduceSum(larger, np.int64([0, 1]), name="sum"), np.float32(0), name="less"))
    branching.friendly_name = "if"
    inner = [Parameter(Type.f32, [2, 2]) for _ in range(2)]
    bodies = [Model([ops.Result(ops.Multiply(value, np.float32(f)))], [value]) for value, f in zip(inner, (2, 5))]
    branching.set_then_body(bodies[0])
    branching.set_else_body(bodies[1])
    branching.set_input(larger.output(0), *inner)
    result = branching.set_output(bodies[0].results[0], bodies[1].results[0])
    model = Model([ops.Exp(ops.Multiply(result, np.float32(0.5), name="branched"), name="end")], [x], "changed")

    class InPlace(PickyPlugin):
        passes = (change,)

    values = np.float32([[-0.1, 0.2], [0.3, -0.1]])
    expected = np.exp(3 * np.expm1(-np.abs(values @ np.float32([[1, 2], [3, 4]]))))
    np.testing.assert_allclose(compile_with({}, InPlace(), PickyPlugin(), model)(values)[0], expected, rtol=1e-5)
    compiled = compile_with({pinned: "B"}, InPlace(), PickyPlugin(), model)
    np.testing.assert_allclose(compiled(values)[0], expected, rtol=1e-5)


def test_a_strategy_by_cost_does_not_cut_fusions():
    """BatchNorm costs nothing on B and much on A, but A folds it into the Convolution, which only A is fast at."""

    class Slow(Fusing):
        slow = ()

        def estimate_cost(self, node, options):
            return 1.0 if node.friendly_name in self.slow else 1e-9

    a, b = Slow(), Slow()
    a.slow, b.slow = ("normal",), ("first", "product", "last", "tanh")
    core = core_with(A=a, B=b)
    compiled = core.compile_model(network(), "HETERO:A,B", {"PLACEMENT": "MIN_CUT"})
    devices = {o.name: o.device for o in compiled.get_property("PLACEMENT_REPORT").operations}
    assert devices["product"] == devices["normal"]
    np.testing.assert_allclose(compiled(X)[0], expected(), rtol=1e-5)
