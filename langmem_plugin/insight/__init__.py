"""What is known of owners' memories and of the service itself, in numbers."""

from langmem_plugin.insight.insight import Insight

__all__ = ["Insight"]
