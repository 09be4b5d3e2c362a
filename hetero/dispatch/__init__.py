"""The dispatcher: device HETERO, which runs one model on several devices."""

from hetero.dispatch.plugin import HeteroPlugin
from hetero.dispatch.report import PlacementReport

__all__ = ["HeteroPlugin", "PlacementReport"]
