"""Lengths that depend on the shapes of a model's inputs: expressions of symbols, Length, and guards."""
