"""The description of the API: complete, current, and readable without another host."""

import dataclasses
import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from recollect.domain import (
    access,
    archive,
    audit,
    change,
    context,
    directory,
    embedding,
    forgetting,
    hit,
    injection,
    job,
    meter,
    model_tier,
    record,
    relation,
    scope,
    sharing,
    stats,
    transfer,
    turn,
    upkeep,
    write,
)
from recollect.server import answers, operation_answers, session_answers
from recollect.server.app import ROUTERS, create_app
from recollect.server.caller import query_parameters
from recollect.settings import origins
from tools.write_openapi import TARGET, description

_API: dict[str, Any] = create_app("unused.db").openapi()
_SCHEMAS: dict[str, Any] = _API["components"]["schemas"]


def operations() -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in _API["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_the_committed_description_is_current():
    assert TARGET.read_text(encoding="utf-8") == description(), (
        "run .venv/bin/python tools/write_openapi.py"
    )


def test_every_operation_has_a_name_a_summary_and_a_tag():
    names = [operation["operationId"] for _, operation in operations()]
    assert len(set(names)) == len(names)
    tags = {tag["name"] for tag in _API["tags"]}
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
                    assert name in _SCHEMAS, (where, status)
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
        yield _SCHEMAS[schema["$ref"].rpartition("/")[2]]
    elif "anyOf" in schema:
        for choice in schema["anyOf"]:
            yield from _bodies(choice)
    elif schema.get("type") == "object":
        yield schema


_PAIRS: list[tuple[type, type[answers.Answer]]] = [
    (scope.Scope, answers.Scope),
    (record.Evidence, answers.RecordEvidence),
    (turn.Turn, answers.Turn),
    (hit.Explanation, answers.Explanation),
    (hit.Recalled, answers.Recalled),
    (hit.ArchivePassage, answers.ArchivePassage),
    (context.MemoryContext, answers.MemoryContext),
    (write.Written, answers.Written),
    (write.Trace, answers.Trace),
    (write.Route, answers.Route),
    (stats.Stats, operation_answers.Stats),
    (meter.Metrics, operation_answers.Metrics),
    (meter.MetricPoint, operation_answers.MetricPoint),
    (meter.MetricFigures, operation_answers.MetricFigures),
    (access.Agent, operation_answers.Agent),
    (access.ApiKey, operation_answers.Key),
    (access.NewKey, operation_answers.NewKey),
    (origins.SettingInUse, operation_answers.Setting),
    (stats.StoreCounts, operation_answers.StoreCounts),
    (stats.IndexStats, operation_answers.IndexStats),
    (model_tier.ModelUsage, operation_answers.ModelUsage),
    (stats.Health, operation_answers.MemoryHealth),
    (relation.Conflict, answers.Conflict),
    (upkeep.Dispute, answers.Dispute),
    (upkeep.Swept, operation_answers.Swept),
    (sharing.Proposal, answers.Proposal),
    (audit.AuditEntry, operation_answers.AuditEntry),
    (injection.ReplayedItem, operation_answers.ReplayedItem),
    (forgetting.Forgotten, operation_answers.Forgotten),
    (forgetting.Verification, operation_answers.Verification),
    (embedding.Reindexing, operation_answers.Reindexing),
    (relation.Link, answers.Link),
    (stats.DuplicatePair, operation_answers.DuplicatePair),
    (archive.Archive, session_answers.Archive),
    (archive.SweptArchives, session_answers.SweptArchives),
    (upkeep.BulkChange, answers.BulkChange),
    (stats.Finding, operation_answers.Finding),
    (directory.Contents, answers.Contents),
    (directory.Facets, answers.Facets),
    (directory.SessionEntry, answers.SessionEntry),
    (change.ScopeChange, answers.ScopeChange),
    (job.JobReport, operation_answers.Job),
    (context.SessionUsage, session_answers.SessionUsage),
    (transfer.Imported, operation_answers.Imported),
]


@pytest.mark.parametrize(("value", "model"), _PAIRS)
def test_an_answer_has_exactly_the_fields_of_the_value(value: type, model: type[answers.Answer]):
    assert [it.name for it in dataclasses.fields(value)] == list(model.model_fields)


def test_a_record_has_exactly_the_fields_of_the_library():
    common = {it.name for it in dataclasses.fields(record.Record)} - {"details", "kind"}
    assert answers.AnyRecord.model_fields.keys() == common
    for details, model in (
        (record.Episode, answers.EpisodicRecord),
        (record.Procedure, answers.ProceduralRecord),
    ):
        own = model.model_fields.keys() - common - {"kind"}
        assert own == {it.name for it in dataclasses.fields(details)}


def test_an_address_takes_exactly_what_the_description_says():
    described = {
        operation["operationId"]: {
            it["name"]: it["schema"].get("type") == "array"
            for it in operation.get("parameters", ())
            if it["in"] == "query"
        }
        for methods in _API["paths"].values()
        for operation in methods.values()
    }
    taken = {
        it.name: query_parameters(it)
        for router in ROUTERS
        for it in router.routes
        if isinstance(it, APIRoute)
    }
    assert taken == {name: described[name] for name in taken}


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
        assert json.loads((await client.get("/openapi.json")).text) == _API
        assert (await client.get("/docs/__init__.py")).status_code == 422
