"""Evaluation of operations on images."""
