"""oneDNN as Python sees it: its C API, memory descriptors, primitives and threads."""
