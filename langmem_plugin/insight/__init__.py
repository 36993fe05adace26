"""Figures about owners' memories and about the service itself, in numbers."""

from langmem_plugin.insight.insight import Insight

__all__ = ["Insight"]
