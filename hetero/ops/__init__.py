"""The operation sets: one class an operation, one file a family."""
