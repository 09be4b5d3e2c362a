"""Lowering: what kernels are written against, and the program that they emit."""
