"""What the API says of itself is so: asked whatever that allows, it answers as it says, and never fails."""

import json
import shutil
from pathlib import Path

import pytest
import requests
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.internal.conjecture.utils import many
from starlette.schemas import BaseSchemaGenerator

from langmem_plugin import PhoneMemory, errors
from langmem_plugin.people.access_tokens import AccessTokens
from langmem_plugin.web.api import api_and_openapi, error_responses
from tests.web.api.conftest import ANNA, HEADER
from tests.web.api.serving import serving

EXAMPLES = 6  # of each of some thirty routes


def _more(self):
    """Of `many`, as hypothesis had it before it became an iterator: hypothesis-jsonschema 0.23 asks for it."""
    if not hasattr(self, "each"):
        self.each = iter(self.__enter__())
    if next(self.each, self) is not self:
        return True
    self.__exit__(None, None, None)
    return False


@pytest.fixture(autouse=True)
def hypothesis_as_before(monkeypatch):
    if not hasattr(many, "more"):
        monkeypatch.setattr(many, "more", _more, raising=False)


@pytest.fixture(scope="module")
def memory(tmp_path_factory, migrated_file, offline_model):
    file = tmp_path_factory.mktemp("described") / "langmem.db"
    shutil.copy(migrated_file, file)
    with PhoneMemory(f"sqlite:///{file}", embeddings=offline_model) as memory:
        yield memory


@pytest.mark.slow
@pytest.mark.spec("U-3", "C-13")
@pytest.mark.filterwarnings("ignore:Overriding standard format:hypothesis.errors.HypothesisWarning")
def test_every_route_answers_as_it_says_and_never_fails(memory, many_requests):
    import schemathesis
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    checked = [
        not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_headers_conformance,
        checks.response_schema_conformance,
    ]
    memory.service.remember(ANNA, "Leo is allergic to peanuts")
    token, _ = AccessTokens(memory.database).new_operator()
    app = memory.app()
    schema = schemathesis.openapi.from_dict(app.openapi())
    operations = [each.ok() for each in schema.get_all_operations()]
    assert len(operations) > 30
    with serving(app) as url, requests.Session() as session:
        headers = {"authorization": f"Bearer {token}", HEADER: ANNA}
        for operation in operations:
            _ask(operation, {"base_url": url, "session": session, "headers": headers, "checks": checked})


def _ask(operation, how):
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(case):
        case.call_and_validate(**how)

    ask()


def test_the_description_names_both_kinds_of_tokens_and_has_examples(memory):
    document = memory.app().openapi()
    assert set(document["components"]["securitySchemes"]) == {"person", "operator"}
    assert document["info"]["title"] == "phone-memory"
    for path, operations in document["paths"].items():
        for operation in operations.values():
            assert operation["summary"], path
            assert operation["summary"] not in operation.get("description", ""), path  # nothing is said twice
            assert operation["tags"], path
            assert operation["security"], path
    new = document["components"]["schemas"]["NewFact"]
    assert new["properties"]["fact"]["examples"] == ["Leo is allergic to peanuts"]


@pytest.mark.spec("U-3")
def test_every_error_that_has_a_status_of_its_own_is_one_that_there_is():
    kinds = json.loads((Path(error_responses.__file__).parent / "problems.json").read_text(encoding="utf-8"))
    for name, kind in kinds.items():
        assert issubclass(getattr(errors, name), errors.LangMemError)
        assert 400 <= kind["status"] < 600
        assert kind["title"]


@pytest.mark.spec("U-6")
def test_a_server_that_reads_docstrings_as_yaml_reads_those_of_all_routes():
    """LangGraph's server does, as Starlette's own schemas, and logs a traceback for each that it cannot read."""
    for route in (route for router in api_and_openapi._ROUTERS for route in router.routes):
        BaseSchemaGenerator().parse_docstring(route.endpoint)
