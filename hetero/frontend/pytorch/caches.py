"""Caches of the models of Hugging Face's transformers, whose tensors torch.export has to see."""

from __future__ import annotations

import sys

from hetero.system.messages import get_logger

log = get_logger("hetero.frontend")


def register_caches() -> None:
    """Let torch see the tensors of DynamicCache and EncoderDecoderCache, if transformers is loaded.

    Models return these, so torch.export refuses them otherwise. The first call logs what it registers.
    """
    if "transformers" not in sys.modules:
        return
    from torch.utils import _pytree
    from transformers.cache_utils import DynamicCache, EncoderDecoderCache

    if DynamicCache not in _pytree.SUPPORTED_NODES:
        from transformers.integrations.executorch import register_dynamic_cache_export_support

        register_dynamic_cache_export_support()
        log.info("DynamicCache of transformers is registered with torch.utils._pytree, as torch.export needs it")
    if EncoderDecoderCache not in _pytree.SUPPORTED_NODES:
        _pytree.register_pytree_node(
            EncoderDecoderCache,
            lambda cache: ([cache.self_attention_cache, cache.cross_attention_cache], None),
            lambda caches, context: EncoderDecoderCache(*caches),
            serialized_type_name=f"{EncoderDecoderCache.__module__}.{EncoderDecoderCache.__name__}",
        )
        log.info("EncoderDecoderCache of transformers is registered with torch.utils._pytree, as torch.export needs it")
