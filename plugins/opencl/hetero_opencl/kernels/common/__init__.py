"""Parts that kernels of several families use: the registry, sources, element types, copies, windows, sorting."""
