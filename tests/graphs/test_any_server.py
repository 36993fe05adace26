"""A model behind any OpenAI-compatible server: what it is sent, and that its tool calls are done."""

import json
import re
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from graphs import family_agent, family_assistant
from langmem_plugin.agent.models import chat_model
from tests.cases import for_each

from .conftest import ERIN, Texting

pytestmark = pytest.mark.slow


@contextmanager
def server(answer):
    """Speaks the chat completions protocol; `answer` makes the reply message of a request."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            requests.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            message = {"role": "assistant", "content": None} | answer(requests[-1])
            done = {"index": 0, "message": message, "finish_reason": "stop"}
            body = json.dumps({"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [done]})
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}/v1", requests
        http.shutdown()
        thread.join()


def small_model(request):
    """As a small model would: searches when asked to find, and takes the recipe the prompt names for "number 2"."""
    last = request["messages"][-1]
    if last["role"] == "tool":
        return {"content": f"Here: {last['content'][:30]}"}
    if "find" in last["content"]:
        return called("search_recipes", query="chicken dinner")
    return called("save_recipe", recipe_id=re.search(r'recipe_id "([\w-]+)"', last["content"])[1])


def called(tool, **arguments):
    call = {"id": "call_1", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    return {"tool_calls": [call]}


@pytest.mark.spec("R-1", "U-1")
@for_each("build", [family_assistant.build, family_agent.build], ids=["assistant", "agent"])
@for_each("way", ["invoke", "ainvoke"])
def test_a_model_is_told_what_number_2_means_and_its_call_is_done(memory, household, build, way):
    with server(small_model) as (url, requests):
        text = Texting(memory, build(memory, chat_model("any", base_url=url), household), way)
        text(ERIN, "find me a chicken dinner")
        assert text(ERIN, "save number 2").startswith("Here:")
    assert text.calls == [("save_recipe", {"recipe_id": "creamy-chicken-and-mushroom-pasta"})]
    asked = requests[2]
    assert "Mom Bot" in asked["messages"][0]["content"]
    assert [message["role"] for message in asked["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert {"search_recipes", "push_grocery_list", "move_budget"} <= {
        each["function"]["name"] for each in asked["tools"]
    }
