"""The backend of torch.compile."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn

BACKEND = {"backend": "hetero", "options": {"device": "TEMPLATE"}}


@pytest.fixture(autouse=True)
def taken(caplog):
    """Yield the log, and check that torch runs no graph, unless the test has looked for that and cleared it."""
    torch.compiler.reset()
    with torch.no_grad():
        yield caplog
    assert "torch runs a graph" not in caplog.text


@pytest.fixture
def module():
    return nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.GELU()).eval()


def check(compiled, function, *arguments):
    found, expected = compiled(*arguments), function(*arguments)
    for one, other in zip(torch.utils._pytree.tree_leaves(found), torch.utils._pytree.tree_leaves(expected)):
        torch.testing.assert_close(one, other)


def test_lengths_that_change(module):
    """The second length makes the graph dynamic."""
    compiled = torch.compile(module, **BACKEND)
    for length in (2, 3, 5, 1):
        check(compiled, module, torch.rand(length, 4))


def test_results_that_depend_on_lengths():
    def function(x):
        return (x * 2).to(torch.bfloat16), x.view(-1, x.shape[1] // 2), x.new_zeros(x.shape[0]), x.shape[0], None

    compiled = torch.compile(function, **BACKEND, dynamic=True)
    for shape in ((2, 4), (3, 6)):
        check(compiled, function, torch.rand(shape))


def test_results_stay_after_the_next_call(module):
    compiled = torch.compile(module, **BACKEND)
    first = compiled(torch.ones(2, 4))
    before = first.clone()
    compiled(torch.zeros(2, 4))
    assert torch.equal(first, before)


def test_weights_that_change(module):
    """In place, from a checkpoint, and by assignment."""
    compiled, x = torch.compile(module, **BACKEND), torch.rand(2, 4)
    check(compiled, module, x)
    module[0].weight.mul_(2)
    check(compiled, module, x)
    module.load_state_dict({name: tensor + 1 for name, tensor in module.state_dict().items()})
    check(compiled, module, x)
    module[0].weight = nn.Parameter(torch.rand(4, 4))
    check(compiled, module, x)


def test_inputs_and_buffers_that_are_changed():
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("calls", torch.zeros(1))

        def forward(self, x):
            self.calls += 1
            x.add_(self.calls)
            return x * 2

    counter, x = Counter(), torch.zeros(3)
    compiled = torch.compile(counter, **BACKEND)
    assert [compiled(x).tolist()[0] for _ in range(3)] == [2, 6, 12]
    assert (counter.calls.item(), x.tolist()) == (3, [6, 6, 6])


def test_weights_on_a_device_that_has_its_own_memory(module):
    compiled, x = torch.compile(module, backend="hetero"), torch.rand(2, 4)
    check(compiled, module, x)
    module[1].running_mean.add_(1)
    check(compiled, module, x)


def test_inputs_that_share_memory():
    """A change of one is a change of the other: torch runs the call."""
    compiled = torch.compile(lambda a, b: (a.add_(1), a + b)[1], **BACKEND)
    compiled(torch.zeros(3), torch.zeros(3))
    memory = torch.zeros(4)
    assert compiled(memory[:3], memory[1:]).tolist() == [2, 2, 1]


def test_unknown_devices_and_properties(module):
    for options, message in (({"device": "NPU"}, "NPU"), ({"device": "TEMPLATE", "FAST": 1}, "FAST")):
        with pytest.raises(Exception, match=message):
            torch.compile(module, backend="hetero", options=options)(torch.rand(2, 4))


def test_autocast_stays_with_torch(module, taken):
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.compile(module[0], **BACKEND)(torch.rand(2, 4)).dtype is torch.bfloat16
    assert "autocast is on" in taken.text
    taken.clear()


def test_gradients_stay_with_torch(module, taken):
    with torch.enable_grad():
        loss = torch.compile(module, **BACKEND)(torch.rand(2, 4)).sum()
    loss.backward()
    assert module[0].weight.grad is not None
    assert "torch runs a graph of" in taken.text and "torch.no_grad()" in taken.text
    taken.clear()


def test_a_number_that_changes_stays_with_torch(taken):
    compiled = torch.compile(lambda x, factor: x * factor, **BACKEND)
    assert [compiled(torch.ones(1), factor).item() for factor in (2, 3, 4)] == [2, 3, 4]
    assert "is a number that is no length of a tensor" in taken.text
    taken.clear()


def test_what_cannot_be_translated_stays_with_torch(taken):
    def function(x):
        return torch.linalg.eigvals(x).abs()

    x = torch.rand(3, 3)
    np.testing.assert_allclose(torch.compile(function, **BACKEND)(x), function(x))
    assert taken.text.count("torch runs a graph of") == 1 and "scalar type 10" in taken.text
    taken.clear()


def test_backend_of_programs_for_openvino():
    """In a process where hetero is in openvino's place, its backend and the options of OpenVINO's are there."""
    code = """
import torch, openvino.torch
from openvino.runtime import properties
module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.GELU()).eval()
options = {"device": "TEMPLATE", "config": {properties.enable_profiling: True}, "aot_autograd": True}
compiled, x = torch.compile(module, backend="openvino", options=options), torch.rand(2, 4)
with torch.no_grad():
    torch.testing.assert_close(compiled(x), module(x))
"""
    done = subprocess.run([sys.executable, "-m", "hetero.as_openvino", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0 and "torch runs a graph" not in done.stderr, done.stderr
