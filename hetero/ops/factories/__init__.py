"""Helpers for functions that create operations, which programs import from ``openvino.utils``."""
