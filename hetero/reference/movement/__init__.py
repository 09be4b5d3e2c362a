"""Evaluation of operations that select, rearrange or repeat elements."""
