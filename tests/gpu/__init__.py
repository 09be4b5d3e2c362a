"""Evidence about GPUs that are not at hand: their compilers, and OpenCL runtimes without hardware."""
