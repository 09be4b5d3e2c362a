"""Placement: which device runs which operation, by support, pins, groups and the chosen strategy."""
