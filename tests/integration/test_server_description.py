"""The description of the API: complete, current, and readable without another host."""

import json
import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from recollect.domain import scope
from recollect.domain.page import MAX_PAGE
from recollect.errors import InvalidInput
from recollect.server.app import ROUTERS, create_app
from recollect.server.caller import query_parameters
from tests.described_api import API, SCHEMAS
from tools.write_openapi import TARGET, as_text


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in API["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


async def test_the_committed_description_is_the_one_that_is_served():
    transport = httpx.ASGITransport(create_app("unused.db"))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        served = (await client.get("/openapi.json")).json()
    assert TARGET.read_text(encoding="utf-8") == as_text(served), (
        "run .venv/bin/python tools/write_openapi.py"
    )


def test_every_operation_has_a_name_a_summary_and_a_tag():
    names = [operation["operationId"] for _, operation in operations()]
    assert len(set(names)) == len(names)
    tags = {tag["name"] for tag in API["tags"]}
    for where, operation in operations():
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", operation["operationId"]), where
        assert len(operation["summary"].split()) > 2, where
        assert set(operation["tags"]) <= tags, where


def test_every_answer_has_a_named_model():
    for where, operation in operations():
        for status, response in operation["responses"].items():
            for media, content in response.get("content", {}).items():
                if media in {"application/json", "application/problem+json"}:
                    name = content["schema"]["$ref"].rpartition("/")[2]
                    assert name in SCHEMAS, (where, status)
            if status.startswith("2") and status != "204":
                assert response["content"], where
        assert "application/problem+json" in operation["responses"]["default"]["content"], where


def test_what_names_one_thing_tells_that_it_may_not_be_there():
    for where, operation in operations():
        named = [it for it in operation.get("parameters", ()) if it["in"] == "path"]
        if named:
            assert "404" in operation["responses"], where


def test_every_body_has_an_example_that_names_only_its_fields():
    for where, operation in operations():
        content = operation.get("requestBody", {}).get("content", {})
        # Files are bytes, and have none.
        for schema in _bodies(content.get("application/json", {}).get("schema", {})):
            (example,) = schema["examples"]
            assert not schema.get("properties") or example.keys() <= schema["properties"].keys(), (
                where
            )
            assert not any("default" in it for it in schema.get("properties", {}).values())


def _bodies(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "$ref" in schema:
        yield SCHEMAS[schema["$ref"].rpartition("/")[2]]
    elif "anyOf" in schema:
        for choice in schema["anyOf"]:
            yield from _bodies(choice)
    elif schema.get("type") == "object":
        yield schema


def test_a_response_has_all_the_members_that_are_described():
    told = {name: it for name, it in SCHEMAS.items() if name in _response_names()}
    assert {"Stats", "SemanticRecord", "RecordPage"} <= told.keys()
    for name, schema in told.items():
        assert {*schema.get("required", ())} == schema.get("properties", {}).keys(), name
        assert schema["description"], name


def _response_names() -> set[str]:
    names: set[str] = set()
    waiting: list[Any] = [
        response
        for _, operation in operations()
        for status, response in operation["responses"].items()
        if status.startswith("2")
    ]
    while waiting:
        found = set(re.findall(r"#/components/schemas/([^\"]+)", json.dumps(waiting.pop())))
        waiting += [SCHEMAS[name] for name in found - names if "enum" not in SCHEMAS[name]]
        names |= {name for name in found if "enum" not in SCHEMAS[name]}
    return names


def test_the_texts_are_about_schemas_that_there_are():
    texts = tomllib.loads(files("recollect.server").joinpath("schemas.toml").read_text("utf-8"))
    for part in ("descriptions", "examples", "members"):
        assert texts[part].keys() <= SCHEMAS.keys()
    assert {*texts["requests"].values(), *texts["responses"].values()} <= SCHEMAS.keys()
    for name, members in texts["members"].items():
        described = SCHEMAS["SemanticRecord" if name == "Record" else name]["properties"]
        assert members.keys() <= described.keys(), name


def test_an_address_takes_exactly_what_the_description_says():
    described = {
        operation["operationId"]: {
            it["name"]: it["schema"].get("type") == "array"
            for it in operation.get("parameters", ())
            if it["in"] == "query"
        }
        for methods in API["paths"].values()
        for operation in methods.values()
    }
    taken = {
        it.name: query_parameters(it)
        for router in ROUTERS
        for it in router.routes
        if isinstance(it, APIRoute)
    }
    assert taken == {name: described[name] for name in taken}


@pytest.mark.parametrize(
    "name", ["ann", "安妮", " a b ", "", "  ", "a/b", "a\0", "a\x7f", "x" * 100, "x" * 101]
)
def test_the_description_takes_the_names_that_a_scope_takes(name: str):
    parameters = API["paths"]["/v1/records"]["get"]["parameters"]
    described = next(it["schema"] for it in parameters if it["name"] == "user")
    try:
        scope.Scope(user=name)
        is_name = True
    except InvalidInput:
        is_name = False
    is_described = (
        described["minLength"] <= len(name) <= described["maxLength"]
        and re.search(described["pattern"], name) is not None
    )
    assert is_described == is_name


def test_the_description_takes_the_limits_that_a_list_takes():
    for path in ("/v1/records", "/v1/workspace/records", "/v1/sessions"):
        parameters = API["paths"][path]["get"]["parameters"]
        limit = next(it["schema"] for it in parameters if it["name"] == "limit")
        assert (limit["minimum"], limit["maximum"]) == (1, MAX_PAGE)


async def test_the_pages_load_nothing_from_another_host():
    transport = httpx.ASGITransport(create_app("unused.db"))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        home = (await client.get("/")).text
        assert all(part.startswith("/") for part in re.findall(r'(?:src|href)="([^"]+)"', home))
        page = (await client.get("/docs")).text
        parts = re.findall(r'(?:src|href)="([^"]+)"', page)
        assert len(parts) == 3
        for part in parts:
            assert part.startswith("/docs/"), part
            answer = await client.get(part)
            assert (answer.status_code, len(answer.content) > 100) == (200, True)
        assert (await client.get("/docs/__init__.py")).status_code == 422
