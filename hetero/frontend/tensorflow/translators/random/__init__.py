"""Translators of operators that return random numbers."""
