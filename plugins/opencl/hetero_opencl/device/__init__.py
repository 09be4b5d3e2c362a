"""OpenCL devices: platforms, profiles, memory, and the compiler in child processes."""
