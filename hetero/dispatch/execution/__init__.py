"""Execution of a plan: its steps bound to tensors, boundary tensors, the scheduler and the infer request."""
