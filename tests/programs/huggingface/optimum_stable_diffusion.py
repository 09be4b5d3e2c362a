"""optimum-intel: exports a Stable Diffusion of random weights, and makes a picture of a text."""

import json
import sys
from pathlib import Path

import tests.frameworks.pytorch  # noqa: F401 lets torchvision import without CUDA

# isort: split
import numpy as np
import torch
from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
from optimum.intel import OVStableDiffusionPipeline
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

torch.manual_seed(0)
letters = [chr(code) for code in range(ord("!"), ord("~") + 1)]
tokens = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
Path("vocab.json").write_text(json.dumps({token: number for number, token in enumerate(tokens)}))
Path("merges.txt").write_text("#version: 0.2\n")
end = len(tokens) - 1
text_config = CLIPTextConfig(
    vocab_size=len(tokens), hidden_size=32, intermediate_size=37, num_attention_heads=4, num_hidden_layers=2,
    bos_token_id=end - 1, eos_token_id=end, pad_token_id=end,
)  # fmt: skip
pipeline = StableDiffusionPipeline(
    vae=AutoencoderKL(
        block_out_channels=[32, 64], in_channels=3, out_channels=3, latent_channels=4,
        down_block_types=["DownEncoderBlock2D"] * 2, up_block_types=["UpDecoderBlock2D"] * 2,
    ),
    text_encoder=CLIPTextModel(text_config),
    tokenizer=CLIPTokenizer("vocab.json", "merges.txt", model_max_length=77),
    unet=UNet2DConditionModel(
        block_out_channels=(32, 64), layers_per_block=1, sample_size=16, in_channels=4, out_channels=4,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        cross_attention_dim=32, attention_head_dim=8,
    ),
    scheduler=DDIMScheduler(beta_schedule="scaled_linear", clip_sample=False, set_alpha_to_one=False),
    safety_checker=None, feature_extractor=None, requires_safety_checker=False,
)  # fmt: skip
pipeline.save_pretrained("diffusion")
model = OVStableDiffusionPipeline.from_pretrained("diffusion", export=True, device="CPU")
latents = torch.randn(1, 4, 16, 16)
picture = model("a cat", height=32, width=32, num_inference_steps=3, latents=latents, output_type="np").images
np.savez(sys.argv[1], picture=np.asarray(picture))
