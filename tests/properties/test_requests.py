"""Whatever is sent to any route, it is answered in form, and nobody else's memory is touched."""

import asyncio
import json
import tempfile
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recollect.server.app import create_app
from recollect.settings import Settings
from tests.described_api import API, SCHEMAS
from tests.examples import examples

_LEFT_OUT = {
    "/health",
    # Another model would be looked for in the network; forgetting everything ends the story.
    "/v1/reindex",
    "/v1/forget",
    # Its body is a file.
    "/v1/import/chat",
    # For an operator, who sees everybody's.
    "/v1/export",
    "/v1/import",
    "/v1/backup",
    "/v1/doctor",
    # They wait: for what happens next, and for all work to be done.
    "/v1/events",
    "/v1/workspace/events",
    "/v1/jobs/drain",
}
_OPERATIONS = [
    (method, path, operation)
    for path, methods in API["paths"].items()
    for method, operation in methods.items()
    if path not in _LEFT_OUT
]
_BOBS = "Bob's harbour lantern opens with 4711"
_SOMEBODYS = "ID"

_usual_texts = st.sampled_from(
    ("I prefer green tea", "记住我喜欢绿茶", "harbour lantern 4711", "s", "user", _SOMEBODYS)
)
_odd_texts = st.sampled_from(
    (
        "",
        " ",
        "a\0b",
        "\ud83d",
        "x" * 300,
        'NEAR("a" *)',
        "user_profile/bob",
        "../..",
        "9" * 5_000,
        "-",
    )
)
_usual_moments = st.sampled_from(
    ("2026-03-01T09:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z")
)
_odd_moments = st.sampled_from(
    ("0001-01-01T00:00:00+14:00", "2026-03-01T09:00:00", "2026-02-30", "-1")
)
_odd_numbers = st.sampled_from((0.5, -1, 2**63, 10**30, 1e308, float("nan"), float("inf")))
_ids = st.sampled_from(("ID", "s", "%00", "%ff"))
_users = st.sampled_from(("ann", "ann", "ann", "", "a/b", "\ud83d"))
_usual_files = st.sampled_from((b"# Tea\n\nGreen tea is kept dry.", "绿茶".encode("gb18030")))
_odd_files = st.sampled_from((b"", b"\0\xff" * 50, b"--b--\r\n", b"\r\n--b\r\n\r\n"))
_names = st.sampled_from(("tea.md", "../tea.txt", "", "\ud83d.md", "a\0b.txt", "x" * 3_000))
_deep: list[Any] = [1]
for _ in range(60):
    _deep = [_deep]
_junk: st.SearchStrategy[Any] = st.one_of(
    _odd_texts,
    _odd_numbers,
    st.none(),
    st.booleans(),
    st.sampled_from(([], {}, [[]], _deep, {"a": 1})),
)


@dataclass(frozen=True)
class Sent:
    """One request; `ID` in it stands for a record, which may be Bob's."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    body: bytes | None
    kind: str = "application/json"


@st.composite
def _requests(draw: st.DrawFn) -> Sent:
    method, path, operation = draw(st.sampled_from(_OPERATIONS))
    odd = draw(st.booleans())
    query: list[tuple[str, str]] = []
    for parameter in operation.get("parameters", ()):
        name = parameter["name"]
        if parameter["in"] == "path":
            path = path.replace(f"{{{name}}}", draw(_ids if odd else st.just("ID")))
        elif name in {"org", "workspace", "user", "agent"}:
            continue
        elif parameter["in"] == "query" and draw(st.integers(0, 5)) == 0:
            query.append((name, str(draw(_valued(parameter["schema"], odd)))))
    query.append(("user", draw(_users) if odd else "ann"))
    if "requestBody" not in operation:
        return Sent(method.upper(), path, tuple(query), None)
    kind, described = next(iter(operation["requestBody"]["content"].items()))
    if kind == "application/json":
        told = json.dumps(draw(_valued(described["schema"], odd)), ensure_ascii=draw(st.booleans()))
        body = told.encode("utf-8", "surrogatepass")
    else:
        body = draw(_odd_files if odd else _usual_files)
    if kind == "multipart/form-data":
        kind, body = "multipart/form-data; boundary=b", _form(draw(_names), body)
    if odd and draw(st.integers(0, 9)) == 0:
        body = body[: len(body) // 2]
    return Sent(method.upper(), path, tuple(query), body, kind)


def _form(name: str, body: bytes) -> bytes:
    told = f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    return told.encode("utf-8", "surrogatepass") + body + b"\r\n--b--\r\n"


@st.composite
def _valued(draw: st.DrawFn, schema: dict[str, Any], odd: bool) -> Any:
    """A value as the schema says, or in an odd request now and then any other."""
    is_odd = odd and draw(st.integers(0, 4)) == 0
    if is_odd and draw(st.booleans()):
        return draw(_junk)
    if "$ref" in schema:
        return draw(_valued(SCHEMAS[schema["$ref"].rpartition("/")[2]], odd))
    if "anyOf" in schema:
        return draw(_valued(draw(st.sampled_from(schema["anyOf"])), odd))
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    match schema.get("type"):
        case "string":
            if schema.get("format") == "date-time":
                return draw(_odd_moments if is_odd else _usual_moments)
            return draw(_odd_texts if is_odd else _usual_texts)
        case "integer" | "number":
            return draw(_odd_numbers) if is_odd else 1
        case "boolean":
            return draw(st.booleans())
        case "array":
            items = st.lists(_valued(schema.get("items", {}), odd), max_size=2)
            return draw(items)
        case "object":
            fields, needed = schema.get("properties", {}), schema.get("required", ())
            chosen = [it for it in fields if it in needed or draw(st.integers(0, 9)) == 0]
            return {name: draw(_valued(fields[name], odd)) for name in chosen}
        case _:
            return draw(_junk)


@settings(max_examples=examples(16), deadline=None, suppress_health_check=list(HealthCheck))
@given(requests=st.lists(_requests(), min_size=20, max_size=60))
def test_every_request_is_answered_in_form_and_leaves_others_alone(requests: list[Sent]):
    asyncio.run(_play(requests))


async def _play(requests: list[Sent]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        app = create_app(Settings.load({"data_dir": folder, "storage": {"synchronous": "off"}}))
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
        ):
            bobs = (await client.post("/v1/records?user=bob", json={"content": _BOBS})).json()
            anns = (await client.post("/v1/records?user=ann", json={"content": "Anns own"})).json()
            for number, sent in enumerate(requests):
                meant = anns["id"] if number % 2 else bobs["id"]
                _check(sent, await _answer(client, sent, meant))
            assert (await client.get("/health")).status_code == 200
            after = await client.get(f"/v1/records/{bobs['id']}?user=bob")
            assert after.json() == bobs


async def _answer(client: httpx.AsyncClient, sent: Sent, record_id: str) -> httpx.Response:
    query = "&".join(
        f"{name}={quote(value.encode('utf-8', 'surrogatepass'))}" for name, value in sent.query
    )
    path = sent.path.replace(_SOMEBODYS, record_id)
    body = sent.body and sent.body.replace(b'"ID"', json.dumps(record_id).encode())
    headers = {"Content-Type": sent.kind}
    return await client.request(sent.method, f"{path}?{query}", content=body, headers=headers)


def _check(sent: Sent, answer: httpx.Response) -> None:
    assert "Bob's harbour" not in answer.text, sent
    assert answer.status_code < 500, (sent, answer.text)
    if answer.status_code >= 400:
        problem = answer.json()
        assert problem["code"], (sent, problem)
        assert problem["detail"], (sent, problem)
        assert problem["hint"], (sent, problem)
        assert len(answer.content) < 10_000, sent
