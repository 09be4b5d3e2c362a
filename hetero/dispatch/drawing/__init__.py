"""Drawings of a placement, as Graphviz DOT files."""

from hetero.dispatch.drawing.picture import (
    Picture,
    PlacedOn,
    draw,
    picture_of_affinities,
    picture_of_subgraphs,
    visualize,
)

__all__ = ["Picture", "PlacedOn", "draw", "picture_of_affinities", "picture_of_subgraphs", "visualize"]
