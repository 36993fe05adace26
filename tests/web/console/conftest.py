"""The console on each engine, behind the application's own door: an operator who is signed in, and a person."""

import re

import pytest
from starlette.testclient import TestClient

from langmem_plugin import PhoneMemory, Settings
from langmem_plugin.people.access_tokens import AccessTokens
from langmem_plugin.web.sealed_person_addresses import PersonRefs

ERIN, JASON = "+972501234567", "+972507654321"


class Operator:
    """A browser without scripts."""

    def __init__(self, memory):
        self.memory = memory
        self.tokens = AccessTokens(memory.database, now=memory.service.now)
        self.token, self.access = self.tokens.new_operator()
        self.client = TestClient(memory.app(), base_url="https://console.example", follow_redirects=False)
        self.sign_in(self.token)

    def sign_in(self, token):
        return self.post("sign-in", token=token)

    def of(self, who, place=""):
        return f"people/{PersonRefs(self.memory.database).ref(who)}{place}"

    def get(self, place, **query):
        return self.client.get(f"/console/{place}", params=query or None)

    def post(self, place, **fields):
        return self.client.post(f"/console/{place}", data=fields, headers={"sec-fetch-site": "same-origin"})

    def see(self, place="", status=200, **query):
        answer = self.get(place, **query)
        assert answer.status_code == status, answer.text
        return answer.text

    def do(self, place, status=303, **fields):
        answer = self.post(place, **fields)
        assert answer.status_code == status, answer.text
        return answer


def hidden(page, name):
    return re.search(rf'name="{name}" value="([^"]*)"', page)[1]


@pytest.fixture
def memory(database_url, clock, offline_model):
    settings = Settings(sweep_every=None)
    with PhoneMemory(database_url, embeddings=offline_model, settings=settings, now=clock) as opened:
        yield opened


@pytest.fixture
def operator(memory):
    return Operator(memory)
