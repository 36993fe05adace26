"""Chat commands: what a person types with a slash or says in plain words, answered without a model."""

from langmem_plugin.agent.commands.commands import Commands, Reading

__all__ = ["Commands", "Reading"]
