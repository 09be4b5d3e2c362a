"""Evaluation of matrix products and linear algebra."""
