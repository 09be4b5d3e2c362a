"""Compilation of a model: fusion, layouts, choice of kernels, tuning, and the cache of programs."""
