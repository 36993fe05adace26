"""Know what "number 2" means, without a model: references to earlier tool results, from the message history alone.

    from langmem_plugin.references import describe, resolve

    found = resolve("save number 2", messages)      # LangChain messages, newest last, without the utterance
    found.references                                # each with .items, .words, .reason, .numbers, .part
    found.items                                     # every item meant: copies of the tool's own dicts
    found.item("recipe")                            # the one item of that type, or None
    found.sure                                      # whether something is meant: what is not sure is not claimed
    found.question                                  # set when several are equally meant, or words fit nothing
    found.candidates, found.unresolved              # the items the question is about; the words that fit nothing
    found.explain()                                 # what was shown, said and meant, and why
    found.previous_call                             # the tool and arguments an utterance revises, or None
    describe(found)                                 # one prompt block; "" when there is nothing to say

Items come from JSON of any nesting, artifacts, MCP structured content, markdown tables and numbered or bulleted text;
an item that exists only as text is `{"number": 2, "text": "…"}`. Numbers are those the person saw in the reply.
English, Hebrew and Spanish. Pure and deterministic: no I/O, no model, and no state but
a bounded memory of conversations read (`clear_cache` empties it).

How it is made, each room importing those before it only: words/ has a data file per language; tokens.py compares texts;
said/ reads what words of an utterance do; shown/ reads tool results and replies into a ledger of what was shown; meant/
has a file for each way of finding an item, and meaning_decision.py asks them all. What is claimed is a closed set: numbers and
letters, ordinals, last, ranges, all, both, all but; ids; names; the item in focus; an end of a scale; a value of one item.
"""

from langmem_plugin.references.meant.conversation_ledger import clear_cache
from langmem_plugin.references.meant.resolution_in_prompt import PreviousCall, Reference, Resolution, describe
from langmem_plugin.references.meant.resolver import resolve

__all__ = [
    "PreviousCall",
    "Reference",
    "Resolution",
    "clear_cache",
    "describe",
    "resolve",
]
