"""Models of Hugging Face's transformers as users have them: their outputs, and inputs, are caches."""

import numpy as np
import torch
import transformers

import hetero

_SMALL = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
          "vocab_size": 50}  # fmt: skip
IDS = torch.arange(14).reshape(2, 7)


def llama():
    torch.manual_seed(0)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**_SMALL)).eval()


def tensors_of(cache):
    return [tensor for name in ("keys", "values") for layer in cache.layers for tensor in [getattr(layer, name)]]


def check(found, expected):
    for array, tensor in zip(found, expected, strict=True):
        np.testing.assert_allclose(array, tensor.detach(), rtol=1e-4, atol=1e-5)


def test_a_cache_as_output():
    module = llama()
    model = hetero.convert_model(module, example_input={"input_ids": IDS}, input={"input_ids": [-1, -1]})
    ids = IDS[:, :4]
    expected = module(ids, use_cache=True)
    compiled = hetero.compile_model(model, "TEMPLATE")
    check(compiled([ids.numpy()]).to_tuple(), [expected.logits, *tensors_of(expected.past_key_values)])


def test_a_cache_as_input():
    module = llama()
    caches = [module(IDS, use_cache=True).past_key_values for _ in range(2)]
    mask = torch.ones(2, 8, dtype=torch.int64)
    example = {"input_ids": IDS[:, :1], "attention_mask": mask, "past_key_values": caches[0]}
    model = hetero.convert_model(module, example_input=example)
    before = tensors_of(caches[1])
    arrays = [array.numpy() for array in (IDS[:, :1], mask)] + [tensor.detach().numpy() for tensor in before]
    found = hetero.compile_model(model, "TEMPLATE")(arrays).to_tuple()
    expected = module(IDS[:, :1], attention_mask=mask, past_key_values=caches[1])
    check(found, [expected.logits, *tensors_of(expected.past_key_values)])


def test_the_caches_of_an_encoder_and_decoder():
    torch.manual_seed(0)
    configuration = transformers.T5Config(d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, vocab_size=50)
    module = transformers.T5ForConditionalGeneration(configuration).eval()
    model = hetero.convert_model(module, example_input={"input_ids": IDS, "decoder_input_ids": IDS[:, :3]})
    found = hetero.compile_model(model, "TEMPLATE")([IDS.numpy(), IDS[:, :3].numpy()]).to_tuple()
    expected = module(input_ids=IDS, decoder_input_ids=IDS[:, :3])
    caches = expected.past_key_values
    check(found[: 1 + 4], [expected.logits, *tensors_of(caches.self_attention_cache)])
    check(found[5:9], tensors_of(caches.cross_attention_cache))
