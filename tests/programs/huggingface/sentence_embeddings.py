"""sentence-transformers: embeds sentences with a BERT of random weights on the backend openvino."""

import sys
from pathlib import Path

import tests.frameworks.pytorch  # noqa: F401 lets torchvision import without CUDA

# isort: split
import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Pooling, Transformer
from transformers import BertConfig, BertModel, BertTokenizerFast

torch.manual_seed(0)
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "one", "network", "on", "several", "devices", "a", "cat", "sat"]
Path("vocab.txt").write_text("\n".join(words))
BertTokenizerFast("vocab.txt").save_pretrained("bert")
config = BertConfig(
    vocab_size=len(words), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
    initializer_range=0.3, max_position_embeddings=32,
)  # fmt: skip
BertModel(config).eval().save_pretrained("bert")
bert = Transformer("bert", backend="openvino", model_args={"export": True, "device": "CPU"})
model = SentenceTransformer(modules=[bert, Pooling(32, "mean")])
sentences = ["One network on several devices", "a cat", "a cat sat on several devices"]
embeddings = model.encode(sentences, batch_size=2, normalize_embeddings=True)
np.savez(sys.argv[1], embeddings=embeddings, similarities=model.similarity(embeddings, embeddings).numpy())
