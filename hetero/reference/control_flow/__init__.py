"""Evaluation of operations with bodies or a state."""
