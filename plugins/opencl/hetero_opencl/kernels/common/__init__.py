"""What kernels of several families use: the registry, sources, element types."""
