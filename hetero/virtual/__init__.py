"""The virtual devices AUTO, MULTI and BATCH, which run whole models on other devices."""

from hetero.virtual.auto import AutoPlugin, MultiPlugin
from hetero.virtual.batch import BatchPlugin

__all__ = ["AutoPlugin", "BatchPlugin", "MultiPlugin"]
