"""Boxes: proposals, suppression, regions of interest."""
