"""Evaluation of operations on sequences and strings."""
