"""Comparison of two devices on one model: the command ``hetero compare``."""
