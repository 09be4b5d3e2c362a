"""Evaluation of convolutions."""
