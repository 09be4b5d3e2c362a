"""Evaluation of operations on boxes."""
