"""Reductions, cumulative operations and sorting."""
