"""Changes in place through views, in files of programs as torch exports them, and in programs in memory."""

import io

import numpy as np
import pytest
import torch
from torch import nn

import hetero
from hetero.frontend.pytorch.node_context import find_translator
from hetero.frontend.pytorch.views import ALIASING
from hetero.system.errors import FrontendError


class Changed(nn.Module):
    """A copy of the input that ``change`` has changed, and a view of it made before."""

    def __init__(self, change) -> None:
        super().__init__()
        self.change = change

    def forward(self, x):
        y = x.clone()
        row = y[0]
        self.change(y)
        return y, row * 2


def _without_gradients(y):
    with torch.no_grad():
        y[1].mul_(3)


CHANGES = [
    lambda y: y.add_(1),
    lambda y: y[1:].mul_(2),
    lambda y: y[:, ::2].sub_(1),
    lambda y: y.t().add_(1),
    lambda y: y.view(3, 2).select(1, 0).add_(1),
    lambda y: y.unsqueeze(0).squeeze(0).add_(1),
    lambda y: y.swapaxes(0, 1).add_(1),
    lambda y: y.movedim(0, 1).add_(1),
    lambda y: y.unfold(1, 3, 3)[0].add_(1),
    lambda y: y.hsplit(3)[0].add_(1),
    lambda y: y.chunk(2)[0].add_(1),
    lambda y: y.ravel().add_(1),
    lambda y: y.reshape(-1).reshape(3, 2).add_(1),
    lambda y: y.flatten().add_(1),
    lambda y: y.contiguous().add_(1),
    lambda y: y.expand_as(torch.zeros(1, 2, 3)).add_(1),
    lambda y: torch.atleast_3d(y).add_(1),
    lambda y: torch.broadcast_tensors(y, torch.zeros(2, 3))[0].add_(1),
    lambda y: y.detach().add_(1),
    lambda y: y.to(torch.float32).add_(1),
    lambda y: y.type_as(torch.zeros(1)).add_(1),
    lambda y: y.gt_(2),
    lambda y: y.logical_not_(),
    lambda y: torch.add(y, 1, out=y),
    _without_gradients,
    lambda y: y.view(torch.int32).bitwise_and_(0x7F0FFFFF),
    lambda y: y.view(torch.uint8)[..., 3].bitwise_and_(0x40),
]


@pytest.mark.parametrize("change", CHANGES)
def test_changes(change):
    """A file is read right, or refused; a program in memory is read right."""
    module, x = Changed(change), torch.arange(6.0).reshape(2, 3)
    program, file = torch.export.export(module, (x,)), io.BytesIO()
    torch.export.save(program, file)
    for source in (program, file.getvalue()):
        try:
            model = hetero.convert_model(source)
        except FrontendError as error:
            assert source is not program and "run_decompositions()" in str(error)
            continue
        for found, expected in zip(hetero.Core().compile_model(model, "TEMPLATE")(x.numpy()).to_tuple(), module(x)):
            np.testing.assert_array_equal(found, expected)


class Function(nn.Module):
    def __init__(self, function) -> None:
        super().__init__()
        self.forward = function


def saved(function, x):
    """Return the file of a program that torch has decomposed."""
    program, file = torch.export.export(Function(function), (x,)).run_decompositions(), io.BytesIO()
    torch.export.save(program, file)
    return file.getvalue()


@pytest.mark.parametrize("function", [
    lambda x: x.relu().as_strided((2, 4), (12, 1), 3),
    lambda x: x.relu().permute(2, 0, 1).as_strided((2, 4), (12, 1), 3),
    lambda x: x.relu()[:, :1].relu().as_strided((4, 2), (1, 4)),
    lambda x: x.relu()[:1].as_strided((3, 2), (1, 4), 1),
    lambda x: x.relu().view(torch.int32), lambda x: x.half().view(torch.int16), lambda x: x.view(torch.uint8),
    lambda x: x.relu().view(torch.int64), lambda x: x[0, 0].double().view(torch.float32),
])  # fmt: skip
def test_views_by_strides_and_by_element_types(function):
    x = torch.rand(2, 3, 4) - 0.5
    found = hetero.compile_model(hetero.Core().read_model(saved(function, x)), "TEMPLATE")(x.numpy())[0]
    np.testing.assert_array_equal(found, function(x))


@pytest.mark.parametrize("function", [
    lambda x: x.relu()[:, ::2].as_strided((2, 4), (12, 1), 3), lambda x: x.relu()[:1].as_strided((2, 4), (12, 1), 3),
    lambda x: x.relu()[1].as_strided((2, 4), (1, 2), 0),
])  # fmt: skip
def test_strides_over_memory_that_a_tensor_is_a_part_of(function):
    with pytest.raises(FrontendError, match="order in memory is unknown"):
        hetero.Core().read_model(saved(function, torch.rand(2, 3, 4)))


@pytest.mark.parametrize("convert", [lambda x: x, lambda x: x.to(torch.float32)])
def test_buffers(convert):
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x):
            with torch.no_grad():
                convert(self.count).add_(1)
            return x + self.count

    program = torch.export.export(Counter(), (torch.zeros(1),))
    request = hetero.Core().compile_model(hetero.convert_model(program), "TEMPLATE").create_infer_request()
    assert [request.infer([np.zeros(1, np.float32)])[0].item() for _ in range(3)] == [1, 2, 3]


def test_all_operators_that_alias_are_known():
    """By torch's own schemas: results that may share memory with the first argument, which is not changed."""
    missing = set()
    for schema in torch._C._jit_get_all_schemas():
        if not schema.name.startswith("aten::") or not schema.arguments or not schema.returns:
            continue
        given, returned = schema.arguments[0].alias_info, schema.returns[0].alias_info
        if given is None or given.is_write or returned is None:
            continue
        if find_translator(schema.name, schema.overload_name) is not None and schema.name not in ALIASING:
            missing.add(schema.name)
    assert not missing
