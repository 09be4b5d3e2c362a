"""A decoder of transformers with a static cache, word by word, against the whole text at once by torch."""

import numpy as np
import pytest
import torch
import transformers
from transformers.integrations.executorch import convert_and_export_with_cache

import hetero
from tests.frameworks.pytorch.test_architectures import DEVICES, TOLERANCE

WORDS = 16


@pytest.fixture(scope="module")
def decoder():
    torch.manual_seed(0)
    configuration = transformers.LlamaConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=64,
        vocab_size=99, max_position_embeddings=64,
    )  # fmt: skip
    module = transformers.LlamaForCausalLM(configuration).eval()
    module.generation_config = transformers.GenerationConfig(
        use_cache=True, cache_implementation="static", max_length=32,
        cache_config={"batch_size": 1, "max_cache_len": 32},
    )  # fmt: skip
    return module


@pytest.fixture(scope="module", params=["as exported", "core ATen"])
def program(decoder, request):
    exported = convert_and_export_with_cache(decoder)
    return exported if request.param == "as exported" else exported.run_decompositions()


@pytest.mark.parametrize("device", DEVICES)
def test_word_by_word(decoder, program, device):
    words = torch.randint(99, (1, WORDS))
    expected = decoder(words).logits[0].detach().numpy()
    model = hetero.convert_model(program)
    assert len(model.get_variables()) >= 4, "keys and values of two layers"
    request = hetero.Core().compile_model(model, device).create_infer_request()
    for _ in range(2):
        for at in range(WORDS):
            (logits,) = request.infer([words[:, at : at + 1].numpy(), np.array([at])]).to_tuple()
            np.testing.assert_allclose(logits[0, 0], expected[at], rtol=0, atol=TOLERANCE * abs(expected).max())
        request.reset_state()
