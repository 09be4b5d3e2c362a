"""A decoder with compressed weights, cut at random: the words' scores are those of TEMPLATE."""

import random

import numpy as np
import pytest

from hetero import Core, ops
from hetero.graph import is_terminal
from hetero.graph.rt_info import AFFINITY
from tests.benchmarks.llama_models import Llama

CORE = Core()
WORDS = 300
# The file computes weights in f16, of which the kernels of GPU do not round the products.
TOLERANCE = 2e-3


def decoder(weights):
    return Llama(words=WORDS, width=256, layers=1, heads=4, hidden=512, weights=weights).model()


def scores(model, device):
    """Return the scores after a prompt, two words, and three words more."""
    request, draw, place, found = (
        CORE.compile_model(model, device).create_infer_request(),
        np.random.default_rng(0),
        0,
        [],
    )
    for count in (5, 1, 1, 3):
        places = np.arange(place, place + count)[None]
        feeds = {"input_ids": draw.integers(0, WORDS, (1, count)), "position_ids": places, "beam_idx": np.int32([0])}
        (logits,) = request.infer(feeds).to_tuple()
        found.append(logits.copy())
        place += count
    return found


@pytest.mark.parametrize("weights", ["int8", "int4"])
@pytest.mark.parametrize("seed", range(4))
def test_random_cuts(weights, seed):
    wanted, model, draw = scores(decoder(weights), "TEMPLATE"), decoder(weights), random.Random(seed)
    for node in model.get_ordered_ops():
        if not is_terminal(node):
            # A variable is on one device.
            is_state = isinstance(node, (ops.ReadValue, ops.Assign))
            node.rt_info[AFFINITY] = "GPU" if is_state else draw.choice(("GPU", "TEMPLATE"))
    for found, expected in zip(scores(model, "HETERO:GPU,TEMPLATE"), wanted, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE * np.abs(expected).max())


@pytest.mark.parametrize("weights", ["int8", "int4"])
@pytest.mark.parametrize("device", ["GPU", "HETERO:ONEDNN,TEMPLATE", "CPU"])
def test_devices(weights, device):
    wanted = scores(decoder(weights), "TEMPLATE")
    for found, expected in zip(scores(decoder(weights), device), wanted, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=TOLERANCE * np.abs(expected).max())
