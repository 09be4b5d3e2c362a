"""Vendors' compilers, which run without a GPU: what they make of programs."""
