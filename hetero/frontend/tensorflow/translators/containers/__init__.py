"""Translators of values that are not dense tensors of numbers: variables, tables, lists, sparse, ragged, strings."""
