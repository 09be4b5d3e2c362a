"""Benchmarks against peers. They print medians and ratios, and assert nothing."""
