"""Operators that several formats compute from operations, each written once."""
