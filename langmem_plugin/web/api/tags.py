"""The tags that a person's memories have."""

from pydantic import BaseModel

from langmem_plugin.memory.keep.tags import Tags
from langmem_plugin.web.api.calls import Call, Called
from langmem_plugin.web.api.fields import Body, Name
from langmem_plugin.web.api.routing import Routes

routes = Routes("tags")


class Tag(BaseModel):
    tag: str
    memory_count: int


class AllTags(BaseModel):
    tags: list[Tag]


class Renaming(Body):
    tag: Name
    new_name: Name


class Renamed(BaseModel):
    changed: int


@routes.get("/api/memory/tags")
def list_tags(call: Called) -> AllTags:
    """List the tags of active memories, the most frequent first."""
    owner = call.reads("tags")
    return AllTags(tags=[Tag(tag=tag, memory_count=many) for tag, many in _tags(call).counts(owner).items()])


@routes.post("/api/memory/tags/rename")
def rename_tag(call: Called, wanted: Renaming) -> Renamed:
    """Give a tag another name, on all memories that have it.

    Where they have the other one too it is there once.
    """
    return Renamed(changed=_tags(call).rename(call.person(), wanted.tag, wanted.new_name))


def _tags(call: Call) -> Tags:
    service = call.service
    return Tags(service.database, service.repository, now=service.now)
