"""Element-wise operations: arithmetic, comparison, activations, conversion."""
