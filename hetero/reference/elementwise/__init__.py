"""Evaluation of element-wise operations."""
