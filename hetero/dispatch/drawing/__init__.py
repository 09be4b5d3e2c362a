"""Drawings of what a placement puts where, as SVG, which needs nothing else, and for Graphviz."""

from hetero.dispatch.drawing.files import FORMATS, draw, visualize
from hetero.dispatch.drawing.picture import Picture, Where, picture_of_affinities, picture_of_subgraphs

__all__ = ["FORMATS", "Picture", "Where", "draw", "picture_of_affinities", "picture_of_subgraphs", "visualize"]
