"""YAML runs and the ``hetero`` command."""
