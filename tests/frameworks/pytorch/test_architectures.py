"""Architectures of torchvision, timm and transformers on each device against torch, static and with dynamic lengths."""

import numpy as np
import pytest
import torch

import hetero
from tests.devices import GPUS
from tests.frameworks.pytorch.architectures import ARCHITECTURES

DEVICES = ["TEMPLATE", *(["GPU", "HETERO:GPU,TEMPLATE"] if GPUS else [])]
# Of the largest element.
TOLERANCE = 1e-4


@pytest.fixture(params=ARCHITECTURES)
def architecture(request):
    torch.manual_seed(0)
    return ARCHITECTURES[request.param]


def check(model, module, inputs):
    for device in DEVICES:
        compiled = hetero.Core().compile_model(model, device)
        for x in inputs:
            expected = module(x).detach().numpy()
            np.testing.assert_allclose(compiled(x.numpy())[0], expected, rtol=0, atol=TOLERANCE * abs(expected).max())


def test_static(architecture):
    module, x = architecture.make().eval(), architecture.inputs()
    check(hetero.convert_model(torch.export.export(module, (x,))), module, [x])


def test_dynamic(architecture):
    """A dynamic batch, and number of words."""
    module, x = architecture.make().eval(), architecture.inputs()
    shape = list(architecture.shape)
    shape[: 2 if architecture.vocabulary else 1] = [-1, -1] if architecture.vocabulary else [-1]
    model = hetero.convert_model(module, example_input=x, input=shape)
    assert model.input().partial_shape.is_dynamic
    more = architecture.inputs(batch=3, words=9) if architecture.vocabulary else architecture.inputs(batch=3)
    check(model, module, [x, more])
