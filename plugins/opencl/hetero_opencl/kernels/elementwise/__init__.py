"""Element-wise operations, and epilogues of other kernels."""
