"""optimum-intel: exports a Whisper of random weights, and transcribes a spectrogram to tokens."""

import sys

import tests.frameworks.pytorch  # noqa: F401 lets torchvision import without CUDA

# isort: split
import numpy as np
import torch
from optimum.intel import OVModelForSpeechSeq2Seq
from transformers import WhisperConfig, WhisperForConditionalGeneration

torch.manual_seed(0)
config = WhisperConfig(
    vocab_size=200, num_mel_bins=16, d_model=32, encoder_layers=2, encoder_attention_heads=4, decoder_layers=2,
    decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, max_source_positions=1500,
    max_target_positions=40, init_std=0.3, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
    suppress_tokens=None, begin_suppress_tokens=None,
)  # fmt: skip
WhisperForConditionalGeneration(config).eval().save_pretrained("whisper")
model = OVModelForSpeechSeq2Seq.from_pretrained("whisper", export=True, device="CPU")
features = torch.randn(1, 16, 3000)
logits = model(input_features=features, decoder_input_ids=torch.tensor([[1, 4, 8]])).logits
tokens = model.generate(features, max_new_tokens=10, min_new_tokens=10, do_sample=False, return_timestamps=False)
np.savez(sys.argv[1], logits=logits.numpy(), tokens=tokens.numpy())
