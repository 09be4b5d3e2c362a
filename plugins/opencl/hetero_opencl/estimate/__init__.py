"""Evidence about GPUs that are not at hand: what their vendors' compilers make of programs."""
