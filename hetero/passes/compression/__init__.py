"""Passes that store weights in fewer bits, and those that keep them so."""
