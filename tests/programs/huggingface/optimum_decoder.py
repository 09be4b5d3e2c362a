"""optimum-intel: exports a Llama of random weights, and generates tokens greedily and by beam search."""

import sys

import tests.frameworks.pytorch  # noqa: F401 lets torchvision import without CUDA

# isort: split
import numpy as np
import torch
from optimum.intel import OVModelForCausalLM
from transformers import LlamaConfig, LlamaForCausalLM

torch.manual_seed(0)
config = LlamaConfig(
    vocab_size=120, hidden_size=48, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=64, initializer_range=0.3, eos_token_id=None, pad_token_id=0,
)  # fmt: skip
LlamaForCausalLM(config).eval().save_pretrained("decoder")
model = OVModelForCausalLM.from_pretrained("decoder", export=True, compile=False)
model.save_pretrained("exported")
model = OVModelForCausalLM.from_pretrained("exported", device="CPU")
ids = torch.tensor([[5, 17, 3, 99], [7, 8, 9, 10]])
np.savez(
    sys.argv[1],
    logits=model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits.numpy(),
    greedy=model.generate(ids, max_new_tokens=12, do_sample=False).numpy(),
    beams=model.generate(ids[:1], max_new_tokens=6, num_beams=3, do_sample=False).numpy(),
)
