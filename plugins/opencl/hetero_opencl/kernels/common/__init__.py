"""Parts that kernels of several families use: how a kernel is defined, copies, windows, prefix sums and sorting."""
