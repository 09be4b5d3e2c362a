"""Boxes: prior boxes, proposals, decoding, suppression, regions of interest."""
