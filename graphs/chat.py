"""Text with the household assistant in a terminal: `python -m graphs.chat`; the conversation survives a restart."""

import argparse
import logging
import sys

from graphs import family_agent, family_assistant
from graphs.household import Household
from langmem_plugin import PhoneMemory
from langmem_plugin.agent.models import chat_model
from langmem_plugin.errors import LangMemError
from langmem_plugin.offline.chat_model import FOR_TRYING_OUT, OfflineChatModel
from langmem_plugin.text_sanitizing import visible

ASSISTANTS = {"assistant": family_assistant.build, "agent": family_agent.build}
WELCOME = """You text as {phone}. Try: find me a chicken dinner, then: number 3 looks good, tell me more.
/help lists the memory's own commands; an empty line or Ctrl-D ends.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--phone", default="+12025550123", help="who you are (default: %(default)s)")
    parser.add_argument("--database", default="sqlite:///data/demo/chat.db", help="default: %(default)s")
    parser.add_argument("--graph", choices=ASSISTANTS, default="assistant", help="how it is built")
    options = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    try:
        model = chat_model()
        with PhoneMemory(options.database) as memory:
            graph = ASSISTANTS[options.graph](memory, model, Household("data/demo/household.db"))
            sys.stdout.write(WELCOME.format(phone=options.phone))
            if isinstance(model, OfflineChatModel):
                sys.stdout.write(f"{FOR_TRYING_OUT}\n")
            while text := _heard():
                sys.stdout.write(visible(memory.reply(graph, options.phone, text)) + "\n")
    except LangMemError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _heard() -> str:
    """The next message; "" at the end."""
    try:
        return input("> ")
    except (EOFError, KeyboardInterrupt):
        return ""


if __name__ == "__main__":
    sys.exit(main())
