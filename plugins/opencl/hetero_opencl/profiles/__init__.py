"""Profiles: what kernels and estimates need to know about a device, measured or from its vendor's documents."""
