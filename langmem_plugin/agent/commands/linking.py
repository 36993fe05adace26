"""/link: a code in one channel, and the code in another, make both the same person's."""

from langmem_plugin.agent.replies import Replies
from langmem_plugin.identifiers import is_group
from langmem_plugin.people import People


class Linking:
    def __init__(self, people: People) -> None:
        self._people = people

    def answer(self, owner: str, code: str, replies: Replies) -> str:
        """Without a code, gives one; with one, links the channel in which it was given."""
        if is_group(owner):
            return replies.link_not_here
        if not code:
            return replies.link_code.format(code=self._people.link_code(owner))
        return replies.linked if self._people.redeem(owner, code) else replies.link_wrong
