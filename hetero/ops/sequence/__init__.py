"""Sequences, strings, CTC and trees."""
