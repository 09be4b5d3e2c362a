"""Attention in groups: keys and values that are repeated for the heads of a group are read where they are."""

import numpy as np
import pytest
from hetero_opencl.compile.shared_heads import share_heads

import hetero
from hetero import Model, Parameter, PartialShape, Type, ops
from hetero.graph import Variable, VariableInfo

CORE = hetero.Core()
HEADS, GROUPS, SIZE = 6, 2, 16


def repeated(x, times: int = HEADS // GROUPS):
    """Repeat each head, as optimum does: the lengths come from the shape of the keys."""
    batch, length = (ops.Gather(ops.ShapeOf(x), np.array([axis]), np.int64(0)) for axis in (0, 2))
    shape = ops.Concat([batch, np.array([GROUPS, times]), length, np.array([SIZE])], 0)
    wide = ops.Broadcast(ops.Unsqueeze(x, np.array([2])), shape)
    return ops.Reshape(wide, np.array([0, GROUPS * times, -1, SIZE]), True)


def decoder(mask_heads: int) -> Model:
    """Return one layer with caches that grow, whose inputs are queries, keys, values, a mask and the beams."""
    heads = HEADS, GROUPS, GROUPS
    query, key, value = (Parameter(Type.f32, [-1, count, -1, SIZE]) for count in heads)
    mask, beams = Parameter(Type.f32, [-1, mask_heads, -1, -1]), Parameter(Type.i32, [-1])
    grown = []
    for name, x in (("key", key), ("value", value)):
        variable = Variable(VariableInfo(name, Type.f32, PartialShape([-1, GROUPS, -1, SIZE])))
        shape = ops.Concat([ops.Gather(ops.ShapeOf(x), np.array([0]), np.int64(0)), np.array([GROUPS, 0, SIZE])], 0)
        before = ops.Gather(ops.ReadValue(ops.Broadcast(np.float32(0), shape), variable), beams, np.int64(0))
        grown.append((ops.Concat([before, x], 2), variable))
    (keys, _), (values, _) = grown
    result = ops.ScaledDotProductAttention(query, repeated(keys), repeated(values), mask, causal=False)
    assigns = [ops.Assign(whole, variable) for whole, variable in grown]
    return Model([result], assigns, [query, key, value, mask, beams])


@pytest.mark.parametrize("mask_heads", [1, HEADS])
def test_a_decoder(device, plugin_request, mask_heads):
    model = decoder(mask_heads)
    request, reference = (CORE.compile_model(model, name).create_infer_request() for name in (device, "TEMPLATE"))
    draw, length = np.random.default_rng(0), 0
    for words, beams in ((7, [0, 1]), (1, [0, 1]), (1, [1, 1]), (3, [0, 1]), (1, [1, 0, 0]), (40, [0, 1, 2])):
        length += words
        arrays = [
            draw.standard_normal((len(beams), heads, words, SIZE), np.float32) for heads in (HEADS, GROUPS, GROUPS)
        ]
        mask = draw.standard_normal((len(beams), mask_heads, words, length), np.float32)
        feeds = [*arrays, mask, np.int32(beams)]
        np.testing.assert_allclose(request.infer(feeds)[0], reference.infer(feeds)[0], atol=2e-5)
    (bound,) = plugin_request(request).bound_model.bound_programs
    types = {launch.node_type for launch in bound.program.launches}
    assert ("Broadcast" in types) == (mask_heads > 1), types  # a mask for each head would have to be moved


def static(times: int, heads: int) -> Model:
    query, keys, mask = Parameter(Type.f32, [2, heads, 4, SIZE]), Parameter(Type.f32, [2, GROUPS, 5, SIZE]), None
    wide = repeated(keys, times)
    mask = Parameter(Type.f32, [4, 5])
    return Model([ops.ScaledDotProductAttention(query, wide, wide, mask, causal=False)], [query, keys, mask])


def test_only_repetition_of_the_heads_is_left_out(device):
    assert share_heads(model := static(3, 6))
    assert "Broadcast" not in {node.get_type_name() for node in model.get_ordered_ops()}
    assert not share_heads(static(3, 1))  # one head of queries for all
    for model in (static(3, 6), static(3, 1)):
        arrays = [np.random.default_rng(1).standard_normal(port.shape, np.float32) for port in model.inputs]
        wanted = CORE.compile_model(model, "TEMPLATE")(arrays)[0]
        np.testing.assert_allclose(CORE.compile_model(model, device)(arrays)[0], wanted, atol=2e-5)
