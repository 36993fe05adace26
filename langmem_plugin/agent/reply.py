"""What `PhoneMemory.reply` gives back: the text for the person."""

from typing import Self


class Reply(str):
    """A text to send. `repeated` says that it was given to another call before: for the same message, delivered twice,
    or for one that it was answered together with. A channel that sends by itself leaves it out then, and "" too.
    """

    __slots__ = ("repeated",)

    repeated: bool

    def __new__(cls, text: str, *, repeated: bool = False) -> Self:
        made = super().__new__(cls, text)
        made.repeated = repeated
        return made
