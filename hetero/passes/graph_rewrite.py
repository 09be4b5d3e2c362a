"""A module that exists because OpenVINO has ``openvino.passes.graph_rewrite``. Its classes are in hetero.passes."""

from hetero.passes.matching.graph_rewrite import BackwardGraphRewrite, GraphRewrite, MatcherPass

__all__ = ["BackwardGraphRewrite", "GraphRewrite", "MatcherPass"]
