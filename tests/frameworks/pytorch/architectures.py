"""Small architectures of torchvision, timm and transformers with random weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import timm
import torch
import torchvision
import transformers
from torch import nn


class Architecture(NamedTuple):
    """``make`` returns a module, ``shape`` is that of its input; for tokens it has the size of the vocabulary."""

    make: Callable[[], nn.Module]
    shape: tuple[int, ...]
    vocabulary: int | None = None

    def inputs(self, **lengths: int) -> torch.Tensor:
        """Return an input, with other ``batch`` or ``words``."""
        shape = list(self.shape)
        for axis, name in enumerate(("batch", "words")):
            shape[axis] = lengths.get(name, shape[axis])
        if self.vocabulary:
            return torch.randint(self.vocabulary, shape)
        return torch.rand(shape)


class First(nn.Module):
    """A module of transformers, of whose results only the first is an output."""

    def __init__(self, module: nn.Module, **options: Any) -> None:
        super().__init__()
        self.module, self.options = module, options

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.module(x, return_dict=False, **self.options)[0]


def _vision(name: str, size: int = 64) -> Architecture:
    return Architecture(lambda: getattr(torchvision.models, name)(weights=None), (2, 3, size, size))


def _timm(name: str, size: int = 64, **options: Any) -> Architecture:
    return Architecture(lambda: timm.create_model(name, pretrained=False, **options), (2, 3, size, size))


_SMALL = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "vocab_size": 99,
}


def _text(name: str, **options: Any) -> Architecture:
    def make() -> nn.Module:
        configuration = getattr(transformers, f"{name}Config")(**(_SMALL | options))
        return First(getattr(transformers, f"{name}Model")(configuration), **({"use_cache": False} if "past" in
                     str(getattr(configuration, "keys_to_ignore_at_inference", "")) else {}))  # fmt: skip

    return Architecture(make, (2, 7), 99)


ARCHITECTURES = {
    **{name: _vision(name) for name in (
        "resnet18", "mobilenet_v2", "mobilenet_v3_small", "shufflenet_v2_x0_5", "squeezenet1_1", "mnasnet0_5",
        "efficientnet_b0", "regnet_y_400mf", "densenet121", "alexnet",
    )},
    **{name: _timm(name) for name in (
        "resnet10t", "mobilenetv4_conv_small", "edgenext_xx_small", "mobilevit_xxs", "poolformer_s12", "ghostnet_050",
        "repvgg_a0", "tinynet_e", "convnext_atto", "lcnet_035",
    )},
    "deit_tiny": _timm("deit_tiny_patch16_224", 32, img_size=32),
    "mixer": _timm("mixer_s32_224", 64, img_size=64),
    **{name: _text(name) for name in ("Bert", "Roberta", "Electra", "Albert", "GPTNeoX", "Llama")},
    **{name: _text(name, num_key_value_heads=2, head_dim=16) for name in ("Qwen2", "Mistral", "Gemma")},
    "GPT2": _text("GPT2", n_embd=32, n_layer=2, n_head=2),
    "DistilBert": _text("DistilBert", dim=32, n_layers=2, n_heads=2, hidden_dim=64),
}  # fmt: skip
