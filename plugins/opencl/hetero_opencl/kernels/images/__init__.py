"""Resizing, sampling and colors of images."""
