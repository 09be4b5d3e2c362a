"""Evaluation of reductions, cumulative operations and sorting."""
