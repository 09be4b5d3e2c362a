"""The memory and time of constant folding grow with the model; what exceeds the budget is computed at inference."""

import numpy as np
import pytest

import hetero
from hetero import Model, Parameter, Type, ops
from hetero.graph import Constant
from hetero.passes import fold_constants
from tests.devices import GPUS

CORE = hetero.Core()


def kinds(model: Model) -> list[str]:
    return [node.type_info.name for node in model.get_ordered_ops()]


def counter(trip_count: int, limit: int | None = None):
    """Return a Loop that counts its iterations from 0, up to ``limit``."""
    state = Parameter(Type.f32, [1])
    after = ops.Add(state, np.float32([1]))
    again = ops.Less(after, np.float32([limit])) if limit else Constant(np.array(True))
    body = Model([again, after], [state])
    node = ops.Loop(np.int64(trip_count), np.array(True))
    node.set_function(body)
    node.set_special_body_ports([-1, 0])
    node.set_merged_input(state, Constant(np.float32([0])), body.results[1].output(0))
    return node.get_iter_value(body.results[1].output(0), -1)


@pytest.mark.parametrize(
    ("loop", "is_folded"),
    [
        (lambda: counter(20), True),
        (lambda: counter(1 << 22), False),  # takes 10 s and more
        (lambda: counter(-1, 1 << 22), False),  # the number of iterations is not known
    ],
    ids=["20 times", "4 million times", "an unknown number of times"],
)
def test_only_short_loops_are_folded(loop, is_folded):
    x = Parameter(Type.f32, [1])
    model = Model([ops.Add(x, loop())], [x])
    fold_constants(model)
    assert ("Loop" in kinds(model)) is not is_folded


@pytest.mark.parametrize("device", ["TEMPLATE", GPUS[0], f"HETERO:{GPUS[0]},TEMPLATE"])
def test_a_loop_that_is_not_folded_runs_at_inference(device):
    x = Parameter(Type.f32, [1])
    found = CORE.compile_model(Model([ops.Add(x, counter(-1, 300))], [x]), device)([np.float32([0.5])])[0]
    np.testing.assert_array_equal(found, np.float32([300.5]))


@pytest.mark.parametrize("negates", [False, True])
def test_constants_that_double_are_folded_up_to_the_budget(negates):
    array = np.arange(1000, dtype=np.float32)
    value = Constant(array)
    for _ in range(15):  # to 130 MB
        value = ops.Concat([value, ops.Negative(value) if negates else value], 0)
    x = Parameter(Type.f32, [1])
    first = ops.Gather(value, np.arange(2000), np.int64(0))
    model = Model([ops.Add(first, x), ops.Add(value, x)], [x])
    fold_constants(model)
    constants = {id(node.data): node.data.nbytes for node in model.get_ordered_ops() if isinstance(node, Constant)}
    assert "Concat" in kinds(model) and sum(constants.values()) < 8 << 20
    found = CORE.compile_model(model, "TEMPLATE")([np.float32([0])])[0]
    np.testing.assert_array_equal(found, np.concatenate([array, -array if negates else array]))


def test_large_products_are_not_folded():
    x, small, large = Parameter(Type.f32, [1]), np.ones((100, 100), np.float32), np.ones((1500, 1500), np.float32)
    model = Model([ops.Add(x, ops.MatMul(a, a, False, False)) for a in (small, large)], [x])
    fold_constants(model)
    assert kinds(model).count("MatMul") == 1
