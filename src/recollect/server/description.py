"""The description of the API for programs, and its documentation page for people."""

from __future__ import annotations

import asyncio
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Final, Literal, cast

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.openapi.utils import get_openapi
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse
from fastapi.routing import APIRoute
from pydantic import ConfigDict, TypeAdapter

from recollect.domain.record import Kind
from recollect.server.idempotency import HEADER
from recollect.server.identity import COOKIE
from recollect.server.permissions import declared
from recollect.server.problems import Problem

ABOUT: Final = (
    "Durable, scoped, searchable memory for agents. Whose memory a request is about stands in its "
    "address (`?user=ann&agent=helper`); errors are `application/problem+json` with a `code`."
)
TAGS: Final = (
    {"name": "records", "description": "What is remembered: facts, events and procedures"},
    {"name": "recall", "description": "Finding what is remembered, and putting it into a prompt"},
    {"name": "turns", "description": "What was said, word for word"},
    {"name": "writing", "description": "Deciding what becomes of what was said"},
    {"name": "sessions", "description": "Conversations whose window fits a model's budget"},
    {"name": "archives", "description": "Large tool results that were put away"},
    {"name": "knowledge", "description": "Documents that an agent can rely on"},
    {"name": "directory", "description": "Who and what there is, and how much"},
    {"name": "events", "description": "What changes, as it happens"},
    {"name": "upkeep", "description": "Health, conflicts, quarantine, expiry and retention"},
    {"name": "shared", "description": "What all agents of a workspace know, and proposals for it"},
    {"name": "tools", "description": "The tools that a model is given"},
    {"name": "items", "description": "What frameworks keep for themselves"},
    {"name": "audit", "description": "Who did what and why, provably"},
    {"name": "jobs", "description": "Background work"},
    {"name": "access", "description": "Signing in, keys and roles"},
    {"name": "agents", "description": "Whether and how each agent uses memory"},
    {"name": "operation", "description": "Running the server"},
)


def operation_id(route: APIRoute) -> str:
    """The name of an operation: its function's, which no other route has."""
    return route.name


def describe(app: FastAPI, routers: Iterable[APIRouter]) -> None:
    """Let the app's description be complete: summaries from docstrings, and the form of errors."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = _described(app, routers)
        return app.openapi_schema

    setattr(app, "openapi", openapi)  # noqa: B010  (the framework's documented way to replace it)


def _described(app: FastAPI, routers: Iterable[APIRouter]) -> dict[str, Any]:
    described = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        description=app.description,
        tags=app.openapi_tags,
        routes=app.routes,
    )
    _describe_schemas(described, routers)
    described["components"]["schemas"]["Problem"] = Problem.model_json_schema()
    described["components"]["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer", "description": "an API key or a token"},
        "cookie": {"type": "apiKey", "in": "cookie", "name": COOKIE},
    }
    described["security"] = [{"key": []}, {"cookie": []}]
    for methods in described["paths"].values():
        for operation in methods.values():
            # The first line of a docstring says it all; the rest explains.
            summary, _, rest = operation["description"].partition("\n")
            operation["summary"] = summary.removesuffix(".")
            operation["description"] = rest.strip() or summary
            if declared(operation["operationId"]).takes_key:
                _take_key(operation)
            _tell_permission(operation)
            _complete_waiting(operation["responses"])
    return described


def _complete_waiting(responses: dict[str, Any]) -> None:
    """Give the answer to a write that waits (202) the form of the usual answer."""
    usual = responses.get("201") or responses.get("200")
    if usual and "202" in responses:
        responses["202"].setdefault("content", usual["content"])


# --- Schemas: those of requests as the framework makes them, those of responses from the domain ---

_RECORDS: Final = frozenset(f"{kind.title()}Record" for kind in Kind)
_REFERENCE: Final = re.compile(r'(?<="#/components/schemas/)[^"]+')


def _describe_schemas(described: dict[str, Any], routers: Iterable[APIRouter]) -> None:
    """Describe requests and responses apart, with the names and texts of `schemas.toml`."""
    texts = tomllib.loads(Path(__file__).with_name("schemas.toml").read_text("utf-8"))
    schemas = described["components"]["schemas"]
    requests: dict[str, Any] = {}
    for operation in (it for methods in described["paths"].values() for it in methods.values()):
        operation["responses"] = _renamed(operation["responses"], texts["responses"])
        for part in operation.keys() & {"parameters", "requestBody"}:
            _collect(operation[part], schemas, requests)
            operation[part] = _renamed(operation[part], texts["requests"])
    responses = _response_schemas(routers)
    described["components"]["schemas"] = {
        texts[kind].get(name, name): _renamed(schema, texts[kind])
        for kind, some in (("requests", requests), ("responses", responses))
        for name, schema in some.items()
    }
    for name in (texts["responses"].get(response, response) for response in responses):
        _tell(described["components"]["schemas"][name], name, texts)


def _response_schemas(routers: Iterable[APIRouter]) -> dict[str, dict[str, Any]]:
    models = dict.fromkeys(
        route.response_model
        for router in routers
        for route in router.routes
        if isinstance(route, APIRoute) and route.response_model is not None
    )
    together = cast("Any", tuple)[tuple(models)]
    every = TypeAdapter[Any](together, config=ConfigDict(use_attribute_docstrings=True))
    told = every.json_schema(mode="serialization", ref_template="#/components/schemas/{model}")
    return told["$defs"]


def _tell(schema: dict[str, Any], name: str, texts: Mapping[str, Any]) -> None:
    """Add what the texts say of a response, which always has all its members."""
    schema["title"] = name.removesuffix("-Output")
    if name in texts["descriptions"]:
        schema["description"] = texts["descriptions"][name]
    if name in texts["examples"]:
        schema["examples"] = [json.loads(texts["examples"][name])]
    if "properties" in schema:
        schema["required"] = list(schema["properties"])
    members = texts["members"].get("Record" if name in _RECORDS else name, {})
    for member, told in schema.get("properties", {}).items():
        told.pop("default", None)
        if member in members:
            told["description"] = members[member]


def _collect(part: Any, schemas: Mapping[str, Any], needed: dict[str, Any]) -> None:
    """Collect the schemas that a part of the description refers to."""
    for name in _REFERENCE.findall(json.dumps(part)):
        if name not in needed:
            needed[name] = schemas[name]
            _collect(schemas[name], schemas, needed)


def _renamed(part: Any, names: Mapping[str, str]) -> Any:
    """Return a part of the description that refers to schemas by other names."""
    return json.loads(_REFERENCE.sub(lambda it: names.get(it[0], it[0]), json.dumps(part)))


def _tell_permission(operation: dict[str, Any]) -> None:
    """Say who may call an operation."""
    needed = declared(operation["operationId"])
    if needed.role is None:
        operation["security"] = []
        return
    operation["x-role"] = needed.role.value
    operation["x-reach"] = needed.reach
    bound = ", with a key that is not bound" if needed.reach == "server" else ""
    operation["description"] += f"\n\nRole: {needed.role}{bound}."


def _take_key(operation: dict[str, Any]) -> None:
    """Say that a write may be repeated under its key."""
    parameters: list[dict[str, Any]] = operation.setdefault("parameters", [])
    if all(parameter["name"].lower() != HEADER.lower() for parameter in parameters):
        parameters.append(
            {
                "name": HEADER,
                "in": "header",
                "required": False,
                "description": "a repeated request with the same key is carried out only once",
                "schema": {"type": "string"},
            }
        )


# --- The documentation of the API for people, with all its parts from this server -----------------

router = APIRouter(include_in_schema=False)

# A package of the same program that the framework would load from another host.
_ASSETS: Final = Path(str(files("fastapi_swagger"))) / "resources"

# In a package, and in a checkout; a test holds that it is current.
_WRITTEN: Final = (
    Path(__file__).with_name("openapi.json"),
    Path(__file__).parents[3] / "docs" / "openapi.json",
)

# These pages have a style and a script in them.
_WITH_INLINE_PARTS: Final = {
    "Content-Security-Policy": "default-src 'self'; script-src 'self' 'unsafe-inline'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; "
    "frame-ancestors 'none'"
}

Asset = Literal["swagger-ui-bundle.js", "swagger-ui.css", "favicon-32x32.png"]


@router.get("/openapi.json")
async def api_description(request: Request) -> Response:
    """What describes the API for programs, as it was written down: to derive it takes seconds."""
    for written in _WRITTEN:
        if written.is_file():
            return FileResponse(written, media_type="application/json")
    app = cast("FastAPI", request.app)
    return JSONResponse(await asyncio.to_thread(app.openapi))


@router.get("/docs")
async def documentation() -> HTMLResponse:
    """Every route, to read and to try."""
    page = get_swagger_ui_html(
        openapi_url="/openapi.json",
        title="Recollect: the HTTP API",
        swagger_js_url="/docs/swagger-ui-bundle.js",
        swagger_css_url="/docs/swagger-ui.css",
        swagger_favicon_url="/docs/favicon-32x32.png",
        swagger_ui_parameters={"displayRequestDuration": True, "docExpansion": "none"},
    )
    page.headers.update(_WITH_INLINE_PARTS)
    return page


@router.get("/docs/{asset}")
async def documentation_asset(asset: Asset) -> FileResponse:
    """A part of the documentation page."""
    return FileResponse(_ASSETS / asset)
