"""Loading of plugin packages: hooks, the registry, and guarded execution of their code."""
