"""Resizing, sampling, colors and decoding of images."""
