"""Drawings of a placement, as Graphviz DOT files."""

from hetero.dispatch.drawing.files import draw, visualize
from hetero.dispatch.drawing.picture import Picture, PlacedOn, picture_of_affinities, picture_of_subgraphs

__all__ = ["Picture", "PlacedOn", "draw", "picture_of_affinities", "picture_of_subgraphs", "visualize"]
