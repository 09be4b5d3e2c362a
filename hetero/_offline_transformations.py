"""A module that exists because OpenVINO has ``openvino._offline_transformations``. They are in hetero.passes."""

from hetero.passes.offline_transformations import (
    apply_fused_names_cleanup,
    apply_low_latency_transformation,
    apply_make_stateful_transformation,
    apply_moc_legacy_transformations,
    apply_moc_transformations,
    apply_pruning_transformation,
    compress_model_transformation,
    compress_quantize_weights_transformation,
)

__all__ = [
    "apply_fused_names_cleanup", "apply_low_latency_transformation", "apply_make_stateful_transformation",
    "apply_moc_legacy_transformations", "apply_moc_transformations", "apply_pruning_transformation",
    "compress_model_transformation", "compress_quantize_weights_transformation",
]  # fmt: skip
