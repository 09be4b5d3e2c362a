"""Makes the cases of tests/frontend/pytorch: small exported programs, with inputs and torch's outputs.

``python -m tests.frameworks.pytorch.make_cases FOLDER``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch._higher_order_ops.map import map as map_slices
from torch._higher_order_ops.scan import scan
from torch.export import Dim
from torchao.quantization import Int8DynamicActivationInt8WeightConfig, Int8WeightOnlyConfig, quantize_
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer


class Case(NamedTuple):
    """A module, the arguments of its calls (several for a module with a state), and dynamic shapes."""

    module: nn.Module
    calls: list[tuple[torch.Tensor, ...]]
    dynamic_shapes: Any = None


class Function(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x)


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


def _indexing(x: torch.Tensor) -> Any:
    rows, columns = torch.tensor([0, 2]), torch.tensor([1, -1])
    y = x.clone()
    y[rows, columns] = 7
    return x[:, columns], x[rows, columns], x[rows], x[1::2, -2:], x.gather(1, torch.tensor([[0], [1], [0]])), y


def _numbers(x: torch.Tensor) -> Any:
    i = (x * 10).to(torch.int64)
    return i // 3, i % 3, x / 2, i / 2, x > 0.5, i == 3, torch.where(x > 0, x, -1), x.clamp(-0.5), i + 0.5, ~(x > 0)


def _reductions(x: torch.Tensor) -> Any:
    return (
        x.sum(),
        x.mean(1),
        x.max(),
        x.argmax(1),
        x.var(0),
        tuple(x.max(1)),
        x.cumsum(0),
        x.any(),
        tuple(x.topk(2)),
        x.std(),
    )


def _shapes(x: torch.Tensor) -> Any:
    last = x.shape[1]
    return x.reshape(last, -1), x.unsqueeze(0).expand(2, -1, -1), x.repeat(1, 2), x.flip(0), x.T, torch.stack([x, x])


def _in_place(x: torch.Tensor) -> Any:
    """Changes of tensors through views, and of views through tensors."""
    y = x.clone()
    row = y[0]
    row.mul_(2)
    same = y.add_(1)
    same.unsqueeze(0).sub_(3)
    z = torch.zeros(4, 3)
    z.T[:, 1:3].add_(x[:, :2])
    column = z.select(1, 2)
    z.relu_()
    return y, row, same, z, column, x.to(torch.float32).mul(2)


def _one_by_one(x: torch.Tensor) -> torch.Tensor:
    """A tensor that a loop fills."""
    y = torch.empty(3, 4)
    for at in range(3):
        y[at] = x[at].cumsum(0)
        y[at, 1:] += at
    return y


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


def _aliases(x: torch.Tensor) -> Any:
    """Operators by their other names."""
    y = x.abs() + 0.5
    return (
        torch.absolute(x), torch.negative(x), torch.subtract(x, y, alpha=2), torch.multiply(x, 3), torch.divide(x, y),
        torch.greater(x, 0), torch.less_equal(x, y), torch.clip(x, -1, 1), torch.special.expit(x), torch.fix(x),
        torch.arctan2(x, y), torch.special.log1p(y), torch.special.softmax(x, 1), torch.row_stack([x, y]),
    )  # fmt: skip


def _functions(x: torch.Tensor) -> Any:
    y = torch.tensor([[1.0, torch.nan, torch.inf, -1.0]] * 3)
    return (
        torch.exp2(x), torch.erfc(x), torch.hypot(x, x + 1), torch.logaddexp(x, -x), torch.nan_to_num(y),
        torch.isclose(x, x + 1e-9), torch.fmax(x, y), torch.isfinite(y), torch.sinc(x), torch.xlogy(x, x.abs()),
        torch.logcumsumexp(x, 1), torch.cumprod(x, 0), torch.nansum(y, 1), torch.count_nonzero(x > 0, 1),
        torch.nn.functional.softshrink(x), torch.cdist(x, x * 2), torch.linspace(0, 1, 5),
        torch.cosine_similarity(x, y),
    )  # fmt: skip


def _searching(x: torch.Tensor) -> Any:
    limits = torch.tensor([-1.0, 0.0, 1.0])
    integers = (x * 2).round()
    return (
        tuple(x.sort(1, descending=True)), tuple(x.kthvalue(2, 1)), tuple(x.median(0)), torch.searchsorted(limits, x),
        torch.bucketize(integers, limits, right=True), torch.isin(integers, limits), x.repeat_interleave(2, 1),
        torch.masked_select(x, x > 0), integers.unique(),
    )  # fmt: skip


def _movement(x: torch.Tensor) -> Any:
    image = x.reshape(1, 1, 3, 4)
    return (
        torch.hstack([x, x]), torch.dstack([x, x]), torch.column_stack([x[:, 0], x]), x.unfold(1, 2, 1),
        torch.nn.functional.unfold(image, 2), torch.take_along_dim(x, x.argsort(1), 1), torch.diag_embed(x, 1),
        x.trace(),
        torch.meshgrid(x[0], x[:, 0], indexing="xy"), torch.linalg.cross(x[:, :3], x[:, 1:]),
        torch.tensordot(x, x, ([1], [1])), torch.nn.functional.pad(image, (1, 2, 1, 1), mode="circular"),
        torch.nn.functional.interpolate(image, scale_factor=1.7, mode="nearest-exact"),
        torch.nn.functional.adaptive_max_pool2d(image, 2), x.index_add(0, torch.tensor([0, 2]), x[:2]),
        x.index_copy(1, torch.tensor([3, 0]), x[:, :2]),
    )  # fmt: skip


def _extremes(x: torch.Tensor) -> Any:
    """Functions of numbers for which a simple formula overflows, cancels or gives NaN."""
    nan, inf, zero = torch.nan, torch.inf, x[0] * 0
    y, column = zero + torch.tensor([-0.0, inf, -inf, 3.0]), zero + torch.tensor([-1000.0, 0.0, 5.0, nan])
    dividend, divisor = zero + torch.tensor([1.0, -6.0, -1.0, 5.0]), zero + torch.tensor([0.1, 0.1, 0.0, -inf])
    small, large = zero + torch.tensor([1e-8, -1e-8, 0.5, 3.0]), zero + torch.tensor([1e30, 1e8, 0.0, inf])
    return (
        torch.atan2(y, zero + torch.tensor([-1.0, inf, -inf, -0.0])), dividend // divisor,
        torch.div(dividend, divisor, rounding_mode="floor"), small.log1p(), small.expm1(), large.log1p(), y.expm1(),
        torch.hypot(large, large), torch.lerp(large[:3], zero[:3] + 1, 1.0), column.logcumsumexp(0),
        x.logcumsumexp(1), y.logsumexp(0), (y - inf).logsumexp(0), column.median(), x.median(), column.sign(),
        nn.functional.threshold(column, 0.1, 3), torch.addmm(x[0] * nan, x, x.T @ x, beta=0),
        nn.functional.rms_norm(x * 1e-4, (4,)), torch.isin(x.round().to(torch.int64), torch.tensor([0.5, 1.0])),
        nn.functional.avg_pool2d(x[None], 2, ceil_mode=True, divisor_override=3), x.norm(1), x.norm(3, 0),
    )  # fmt: skip


def _element_types(x: torch.Tensor) -> Any:
    """Booleans where numbers are usual, integers, and tensors of several element types."""
    is_large, small = x > 0, (x * 20).to(torch.int8)
    other, index = x.to(torch.int64), torch.tensor([0, 0, 1, 1])
    return (
        is_large + ~is_large, is_large.max(), is_large.amin(1), tuple(is_large.sort(1)), tuple(is_large.max(0)),
        torch.maximum(is_large, ~is_large), is_large.to(torch.uint8).all(), is_large.to(torch.uint8).any(1),
        small >> 1, small << 1, small & 3, small | 3, small ^ 3, torch.stack([x, other]), torch.hstack([other, x]),
        small[0].scatter_reduce(0, index, small[1], "mean"),
        small[0].index_reduce(0, index, small[1], "mean", include_self=False),
    )  # fmt: skip


def _shape_corners(x: torch.Tensor) -> Any:
    """Scalars, empty tensors, and operators whose inputs have several shapes."""
    scalar, pad = x[0, 0], nn.functional.pad
    return (
        scalar.argmax(0), x.argmax(keepdim=True), scalar.var(0, unbiased=False), scalar.nonzero(), scalar.argwhere(),
        x[:0].reshape(0, 2, 2).flatten(1), torch.cross(x, x.flip(1)), x.gather(1, torch.tensor([[3, 0]])),
        pad(x[None], (-1, 1), mode="circular"), pad(x[None], (2, -1), mode="circular"), x.as_strided((2, 2), (1, 3), 1),
        torch.eye(3, 4) + x, torch.tril_indices(3, 4, -1), torch.triu_indices(3, 4, 1), torch.linspace(0, 1, 7),
        nn.functional.pixel_shuffle(x.reshape(4, 1, 3), 2), torch.diag_embed(x, -1),
    )  # fmt: skip


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


def _quantization(x: torch.Tensor) -> Any:
    """Operators of quantization with scales for tensors, rows, channels and groups of columns."""
    q = torch.ops.quantized_decomposed
    limits = (-128, 127, torch.int8)
    scale, zero = q.choose_qparams.tensor(x, -128, 127, 1e-6, torch.int8)
    symmetric, middle = q.choose_qparams_symmetric.tensor(x, 0, 255, 1e-6, torch.uint8)
    each, zeros = torch.tensor([0.01, 0.02, 0.03]), torch.tensor([0, 5, -3])
    rows = q.quantize_per_token(x, each[:, None], zeros[:, None], *limits)
    channels = q.quantize_per_channel(x, each, zeros, 0, *limits)
    columns = torch.tensor([[0.01, 0.02], [0.03, 0.04], [0.02, 0.01]])
    integers = q.quantize_per_channel_group(x, columns, torch.zeros_like(columns), *limits, 2)
    return (
        q.quantize_per_tensor(x, 0.02, 3, *limits), q.quantize_per_tensor.tensor(x, scale, zero, *limits),
        rows, q.dequantize_per_token(rows, each[:, None], zeros[:, None], *limits, torch.float32),
        channels, q.dequantize_per_channel(channels, each, zeros, 0, *limits),
        integers, q.dequantize_per_channel_group(integers, columns, None, *limits, 2, torch.float32),
        scale, zero, symmetric, middle,
    )  # fmt: skip


def _blocks(x: torch.Tensor) -> Any:
    """torchao's operators of quantization with scales for rows, and for groups of columns."""
    found = []
    for block in ((1, 4), (1, 2), (3, 4)):
        for mapping in ("SYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR", "ASYMMETRIC"):
            scale, zero = torch.ops.torchao.choose_qparams_affine(x, mapping, block, torch.int8)
            integers = torch.ops.torchao.quantize_affine(x, block, scale, zero, torch.int8)
            found += [scale, zero, integers]
            found.append(torch.ops.torchao.dequantize_affine(integers, block, scale, zero, torch.int8))
    return tuple(found)


def _quantized_network() -> nn.Module:
    """A convolutional network of 8-bit weights and activations, as pt2e makes it."""
    x, module = torch.rand(2, 3, 16, 16), Network().eval()
    configuration = x86_inductor_quantizer.get_default_x86_inductor_quantization_config()
    quantizer = x86_inductor_quantizer.X86InductorQuantizer().set_global(configuration)
    prepared = prepare_pt2e(torch.export.export(module, (x,)).module(), quantizer)
    prepared(x)
    return convert_pt2e(prepared)


def _quantized_layers(configuration: Any) -> nn.Module:
    """Linear layers whose weights torchao quantizes."""
    module = nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 8)).eval()
    quantize_(module, configuration)
    return module


def cases() -> dict[str, Case]:
    torch.manual_seed(0)
    batch, words = Dim("batch", min=1, max=8), Dim("words", min=2, max=16)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), 2).eval()
    matrix = torch.rand(3, 4) * 4 - 2
    return {
        "convolutions": Case(Network().eval(), [(torch.rand(2, 3, 16, 16),)]),
        "dynamic_batch": Case(
            Network().eval(), [(torch.rand(2, 3, 16, 16),), (torch.rand(3, 3, 16, 16),)], ({0: batch},)
        ),
        "encoder": Case(encoder, [(torch.rand(2, 5, 16),)]),
        "dynamic_words": Case(
            nn.Sequential(nn.Embedding(20, 16), nn.LayerNorm(16), nn.Linear(16, 4), nn.GELU()),
            [(torch.randint(20, (1, 5)),), (torch.randint(20, (1, 9)),)], ({1: words},),
        ),
        "cache": Case(Cache(), [(torch.rand(1, 1, 8),) for _ in range(6)]),
        "cond": Case(Conditional(), [(matrix,), (-matrix.abs(),), (matrix.abs(),)]),
        "while_loop": Case(Repeated(), [(matrix,), (matrix * 100,)]),
        "quantized": Case(_quantized_network(), [(torch.rand(2, 3, 16, 16),)]),
        "quantized_weights": Case(_quantized_layers(Int8WeightOnlyConfig()), [(torch.rand(2, 32),)]),
        "quantized_rows": Case(_quantized_layers(Int8DynamicActivationInt8WeightConfig()), [(torch.rand(2, 32),)]),
        "recurrent_networks": Case(Networks().eval(), [(torch.rand(2, 5, 4),)]),
        "recurrent": Case(Recurrent(), [(torch.rand(2, 5, 4), torch.rand(2, 4))]),
        "mutated_input": Case(Counter(), [(matrix.clone(),), (matrix.clone(),)]),
        "lengths": Case(
            Lengths(), [(torch.rand(6, 4),), (torch.rand(13, 4),), (torch.rand(8, 4),)], ({0: Dim.AUTO},)
        ),
        "normalizations": Case(Normalizations().eval(), [(torch.rand(2, 3, 4),)]),
        "nested": Case(Nested(), [({"a": matrix, "b": matrix + 1}, (matrix, matrix * 2))]),
        **{
            function.__name__.strip("_"): Case(Function(function), [(matrix,)])
            for function in (
                _aliases, _blocks, _element_types, _extremes, _functions, _in_place, _indexing, _movement, _numbers,
                _one_by_one, _quantization, _reductions, _searching, _shape_corners, _shapes,
            )
        },
    }  # fmt: skip


def write(folder: Path) -> None:
    """Write NAME.pt2, as torch exports it, NAME.core.pt2, in core ATen, and NAME.npz with inputs and outputs."""
    for name, case in cases().items():
        program = torch.export.export(case.module, case.calls[0], dynamic_shapes=case.dynamic_shapes)
        core = program.run_decompositions()
        if any(type(tensor) not in (torch.Tensor, nn.Parameter) for tensor in program.state_dict.values()):
            # Objects of torchao would be pickled.
            program = program.run_decompositions({})
        for one, suffix in ((program, ""), (core, ".core")):
            one._example_inputs = None  # they would be pickled
            _remove_origins(one)
            torch.export.save(one, folder / f"{name}{suffix}.pt2")
        arrays = {}
        for at, call in enumerate(case.calls):
            before = [tensor.clone() for tensor in torch.utils._pytree.tree_leaves(call)]
            results = torch.utils._pytree.tree_leaves(case.module(*call))
            # Inputs that are changed in place are outputs, too.
            after = torch.utils._pytree.tree_leaves(call)
            results += [now for now, tensor in zip(after, before) if not torch.equal(now, tensor)]
            for kind, values in (("input", before), ("output", results)):
                for index, value in enumerate(values):
                    arrays[f"{at}.{kind}.{index}"] = np.asarray(
                        value.detach() if isinstance(value, torch.Tensor) else value
                    )
        np.savez_compressed(folder / f"{name}.npz", **arrays)


def _remove_origins(program: torch.export.ExportedProgram) -> None:
    """Remove where nodes come from: paths of the machine, and addresses in memory."""
    for module in program.graph_module.modules():
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            for key in ("stack_trace", "from_node"):
                node.meta.pop(key, None)


if __name__ == "__main__":
    write(Path(sys.argv[1]))
