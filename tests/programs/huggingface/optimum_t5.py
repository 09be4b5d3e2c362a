"""optimum-intel: exports a T5 of random weights, and generates a sequence from another."""

import sys

import tests.frameworks.pytorch  # noqa: F401 lets torchvision import without CUDA

# isort: split
import numpy as np
import torch
from optimum.intel import OVModelForSeq2SeqLM
from transformers import T5Config, T5ForConditionalGeneration

torch.manual_seed(0)
config = T5Config(
    vocab_size=100, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0,
    eos_token_id=None, pad_token_id=0, initializer_factor=1.0,
)  # fmt: skip
T5ForConditionalGeneration(config).eval().save_pretrained("t5")
model = OVModelForSeq2SeqLM.from_pretrained("t5", export=True, device="CPU")
ids = torch.tensor([[5, 17, 3, 99, 1]])
logits = model(input_ids=ids, attention_mask=torch.ones_like(ids), decoder_input_ids=torch.tensor([[0, 4, 8]])).logits
np.savez(sys.argv[1], logits=logits.numpy(), generated=model.generate(ids, max_new_tokens=10, do_sample=False).numpy())
