"""Functions of one tensor, whose operators the stored cases have."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


def indexing(x: torch.Tensor) -> Any:
    rows, columns = torch.tensor([0, 2]), torch.tensor([1, -1])
    y = x.clone()
    y[rows, columns] = 7
    return x[:, columns], x[rows, columns], x[rows], x[1::2, -2:], x.gather(1, torch.tensor([[0], [1], [0]])), y


def numbers(x: torch.Tensor) -> Any:
    i = (x * 10).to(torch.int64)
    return i // 3, i % 3, x / 2, i / 2, x > 0.5, i == 3, torch.where(x > 0, x, -1), x.clamp(-0.5), i + 0.5, ~(x > 0)


def reductions(x: torch.Tensor) -> Any:
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


def shapes(x: torch.Tensor) -> Any:
    last = x.shape[1]
    return x.reshape(last, -1), x.unsqueeze(0).expand(2, -1, -1), x.repeat(1, 2), x.flip(0), x.T, torch.stack([x, x])


def in_place(x: torch.Tensor) -> Any:
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


def one_by_one(x: torch.Tensor) -> torch.Tensor:
    """A tensor that a loop fills."""
    y = torch.empty(3, 4)
    for at in range(3):
        y[at] = x[at].cumsum(0)
        y[at, 1:] += at
    return y


def aliases(x: torch.Tensor) -> Any:
    """Operators by their other names."""
    y = x.abs() + 0.5
    return (
        torch.absolute(x), torch.negative(x), torch.subtract(x, y, alpha=2), torch.multiply(x, 3), torch.divide(x, y),
        torch.greater(x, 0), torch.less_equal(x, y), torch.clip(x, -1, 1), torch.special.expit(x), torch.fix(x),
        torch.arctan2(x, y), torch.special.log1p(y), torch.special.softmax(x, 1), torch.row_stack([x, y]),
    )  # fmt: skip


def functions(x: torch.Tensor) -> Any:
    y = torch.tensor([[1.0, torch.nan, torch.inf, -1.0]] * 3)
    return (
        torch.exp2(x), torch.erfc(x), torch.hypot(x, x + 1), torch.logaddexp(x, -x), torch.nan_to_num(y),
        torch.isclose(x, x + 1e-9), torch.fmax(x, y), torch.isfinite(y), torch.sinc(x), torch.xlogy(x, x.abs()),
        torch.logcumsumexp(x, 1), torch.cumprod(x, 0), torch.nansum(y, 1), torch.count_nonzero(x > 0, 1),
        torch.nn.functional.softshrink(x), torch.cdist(x, x * 2), torch.linspace(0, 1, 5),
        torch.cosine_similarity(x, y),
    )  # fmt: skip


def searching(x: torch.Tensor) -> Any:
    limits = torch.tensor([-1.0, 0.0, 1.0])
    integers = (x * 2).round()
    return (
        tuple(x.sort(1, descending=True)), tuple(x.kthvalue(2, 1)), tuple(x.median(0)), torch.searchsorted(limits, x),
        torch.bucketize(integers, limits, right=True), torch.isin(integers, limits), x.repeat_interleave(2, 1),
        torch.masked_select(x, x > 0), integers.unique(),
    )  # fmt: skip


def movement(x: torch.Tensor) -> Any:
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


def extremes(x: torch.Tensor) -> Any:
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


def element_types(x: torch.Tensor) -> Any:
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


def shape_corners(x: torch.Tensor) -> Any:
    """Scalars, empty tensors, and operators whose inputs have several shapes."""
    scalar, pad = x[0, 0], nn.functional.pad
    return (
        scalar.argmax(0), x.argmax(keepdim=True), scalar.var(0, unbiased=False), scalar.nonzero(), scalar.argwhere(),
        x[:0].reshape(0, 2, 2).flatten(1), torch.cross(x, x.flip(1)), x.gather(1, torch.tensor([[3, 0]])),
        pad(x[None], (-1, 1), mode="circular"), pad(x[None], (2, -1), mode="circular"), x.as_strided((2, 2), (1, 3), 1),
        torch.eye(3, 4) + x, torch.tril_indices(3, 4, -1), torch.triu_indices(3, 4, 1), torch.linspace(0, 1, 7),
        nn.functional.pixel_shuffle(x.reshape(4, 1, 3), 2), torch.diag_embed(x, -1),
    )  # fmt: skip


def quantization(x: torch.Tensor) -> Any:
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


def blocks(x: torch.Tensor) -> Any:
    """torchao's operators of quantization with scales for rows, and for groups of columns."""
    found = []
    for block in ((1, 4), (1, 2), (3, 4)):
        for mapping in ("SYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR", "ASYMMETRIC"):
            scale, zero = torch.ops.torchao.choose_qparams_affine(x, mapping, block, torch.int8)
            integers = torch.ops.torchao.quantize_affine(x, block, scale, zero, torch.int8)
            found += [scale, zero, integers]
            found.append(torch.ops.torchao.dequantize_affine(integers, block, scale, zero, torch.int8))
    return tuple(found)


FUNCTIONS = (
    aliases,
    blocks,
    element_types,
    extremes,
    functions,
    in_place,
    indexing,
    movement,
    numbers,
    one_by_one,
    quantization,
    reductions,
    searching,
    shape_corners,
    shapes,
)
