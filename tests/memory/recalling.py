"""Recall as a reply asks for it, of what is about the talk alone."""

from langmem_plugin.memory.find.recall_and_visibility import RELEVANT, ReplyMemory


def recalled_for(service, owner, role, messages):
    found = ReplyMemory(service).recall(owner, role, messages, limit=5, min_similarity=RELEVANT)
    return [memory for memory, _ in found]
