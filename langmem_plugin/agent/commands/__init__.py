"""Chat commands: what a person types with a slash or says in plain words, answered without a model."""

from langmem_plugin.agent.commands.commands import Commands, Reading, stands_alone

__all__ = ["Commands", "Reading", "stands_alone"]
