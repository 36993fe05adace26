"""The link to a person's own page, below what they are told in a chat with them alone."""

from langmem_plugin.agent.replies import Replies
from langmem_plugin.errors import StoreUnavailable
from langmem_plugin.identifiers import OwnerKey, is_group, masked
from langmem_plugin.logs import event_log
from langmem_plugin.people.access_tokens import LINK_FOR, AccessTokens

log = event_log(__name__)

PATH = "/me/in/"
"""Below the address of the web application; the link's token follows."""


class PageLinks:
    """Without an `address` there are none."""

    def __init__(self, tokens: AccessTokens, address: str | None) -> None:
        self._tokens = tokens
        self._address = address

    def below(self, owner: OwnerKey, reply: str, replies: Replies) -> str:
        """The reply with a link, which lets one browser in once; without it where others read along."""
        if self._address is None or is_group(owner):
            return reply
        try:
            token, _ = self._tokens.new_link(owner)
        except StoreUnavailable:  # what could be read is worth more than the link
            log.warning("page_link.not_made", exc_info=True, extra={"owner": masked(owner)})
            return reply
        minutes = int(LINK_FOR.total_seconds() // 60)
        return f"{reply}\n{replies.page_link.format(link=f'{self._address}{PATH}{token}', minutes=minutes)}"
