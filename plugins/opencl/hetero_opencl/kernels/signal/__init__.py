"""Fourier transforms and windows of signals."""
