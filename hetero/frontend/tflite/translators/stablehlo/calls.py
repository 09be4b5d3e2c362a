"""StableHLO CUSTOM_CALL."""

from __future__ import annotations

from hetero.frontend.tflite.node_context import TfliteNodeContext
from hetero.frontend.tflite.registry import translator
from hetero.frontend.translation.translators import Translation
from hetero.system.errors import FrontendError


@translator("STABLEHLO_CUSTOM_CALL")
def custom_call(node: TfliteNodeContext) -> Translation:
    """Raise FrontendError: only an extension can know what a custom call computes."""
    target = node.get_attribute("call_target_name")
    raise FrontendError(f"it calls '{target}', for which there is no extension: add a ConversionExtension of this name")
