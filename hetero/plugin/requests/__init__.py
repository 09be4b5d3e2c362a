"""Infer requests: synchronous and asynchronous, thread pools, profiling, variable states."""
