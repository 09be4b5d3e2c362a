"""Passes that write a model in operations that oneDNN has."""
