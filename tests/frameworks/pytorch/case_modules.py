"""Modules of the stored cases."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch._higher_order_ops.map import map as map_slices
from torch._higher_order_ops.scan import scan
from torchao.quantization import quantize_
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer


class Block(nn.Module):
    """A residual block of a convolutional network."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.conv2 = nn.Conv2d(4, 4, 3, padding=1, groups=2)
        self.bn1.running_mean.uniform_()
        self.bn1.running_var.uniform_(0.5, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x + self.conv2(torch.relu(self.bn1(self.conv1(x)))))


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 4, 5, 2, 2), nn.MaxPool2d(2))
        self.layer1 = nn.Sequential(Block(), Block())
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 3), nn.Softmax(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layer1(self.stem(x)))


class Cache(nn.Module):
    """Attention over the words so far, whose keys and values are buffers."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(8, 24)
        self.register_buffer("keys", torch.zeros(1, 4, 8))
        self.register_buffer("values", torch.zeros(1, 4, 8))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        query, key, value = self.project(x).split(8, -1)
        self.keys.copy_(torch.cat([self.keys[:, 1:], key], 1))
        self.values.copy_(torch.cat([self.values[:, 1:], value], 1))
        return nn.functional.scaled_dot_product_attention(query, self.keys, self.values)


class Nested(nn.Module):
    """Inputs and outputs in dictionaries and tuples, one of them a constant."""

    def forward(self, pair: dict[str, torch.Tensor], other: tuple[torch.Tensor, torch.Tensor]) -> Any:
        return {"sum": pair["a"] + pair["b"], "rest": [other[0] * other[1], other[0].shape[0]]}


class Counter(nn.Module):
    """Counts its calls, and adds to its input in place."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        x.add_(self.count)
        return x * 2


class Conditional(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: self.inner(x) * 2, lambda x: x - 1, (x,))


class Repeated(nn.Module):
    """Doubles a matrix until its sum is large, and counts."""

    def forward(self, x: torch.Tensor) -> Any:
        return torch._higher_order_ops.while_loop(
            lambda x, count: x.abs().sum() < 100, lambda x, count: (x * 2, count + 1), (x, torch.tensor(0))
        )


class Normalizations(nn.Module):
    """Normalizations with the statistics of the batch, and with those of training."""

    def __init__(self) -> None:
        super().__init__()
        self.batch = nn.BatchNorm1d(3, track_running_stats=False)
        self.instance = nn.InstanceNorm1d(3, affine=True, track_running_stats=True)
        self.mixed = nn.BatchNorm1d(3)
        self.instance.running_mean.uniform_()

    def forward(self, x: torch.Tensor) -> Any:
        heads = x.reshape(1, 4, 3, 2)
        attention = nn.functional.scaled_dot_product_attention(heads, heads[:, :2], heads[:, 2:], enable_gqa=True)
        mixed = self.mixed(x.to(torch.bfloat16)).to(torch.float32)
        return (
            self.batch(x),
            self.instance(x),
            mixed,
            torch.native_group_norm(x + 10, None, None, 2, 3, 4, 3, 1e-5),
            attention,
        )


class Lengths(nn.Module):
    """Numbers that depend on the length of the input."""

    def forward(self, x: torch.Tensor) -> Any:
        length = x.shape[0]
        return (
            x.chunk(2), tuple(x.median(0)), x * length**2, x * (length / 2),
            x * torch.sym_max(length, 9) + torch.sym_min(length, 4),
        )  # fmt: skip


class Networks(nn.Module):
    """Recurrent networks of two layers in both directions."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 3, 2, batch_first=True, bidirectional=True)
        self.gru, self.rnn = nn.GRU(4, 3, bias=False), nn.RNN(4, 3, nonlinearity="relu")

    def forward(self, x: torch.Tensor) -> Any:
        return self.lstm(x), self.gru(x), self.rnn(x)


class Recurrent(nn.Module):
    """A recurrent cell over the words, then a function of each, which returns a tensor and a sum."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.RNNCell(4, 4)

    def forward(self, x: torch.Tensor, state: torch.Tensor) -> Any:
        def step(state: torch.Tensor, word: torch.Tensor) -> Any:
            state = self.cell(word, state)
            return state, state * 2

        last, words = scan(step, state, x, dim=1, reverse=True)
        return last, map_slices(lambda word, state: (word - state, word.sum()), words.transpose(0, 1), state)


def quantized_network() -> nn.Module:
    """A convolutional network of 8-bit weights and activations, as pt2e makes it."""
    x, module = torch.rand(2, 3, 16, 16), Network().eval()
    configuration = x86_inductor_quantizer.get_default_x86_inductor_quantization_config()
    quantizer = x86_inductor_quantizer.X86InductorQuantizer().set_global(configuration)
    prepared = prepare_pt2e(torch.export.export(module, (x,)).module(), quantizer)
    prepared(x)
    return convert_pt2e(prepared)


def quantized_layers(configuration: Any) -> nn.Module:
    """Linear layers whose weights torchao quantizes."""
    module = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 8)).eval()
    quantize_(module, configuration)
    return module
