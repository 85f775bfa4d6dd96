"""Write the pages of the documentation that are made from the code or lie outside docs/.

They are docs/reference and docs/project; git has neither.

PYTHONPATH=. .venv/bin/python tools/write_reference.py
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import typer

from recollect import errors
from recollect.cli import app as command_line
from recollect.cli.help import name_values
from recollect.errors import RecollectError
from recollect.server.problems import status_of
from recollect.tools.specs import SPECS
from tools.docs_hooks import TAKEN_IN

ROOT: Final = Path(__file__).resolve().parent.parent
TARGET: Final = ROOT / "docs" / "reference"
_SOURCES: Final = ROOT / "src" / "recollect"

# Sections of the Python reference: heading → what is shown there.
_PYTHON: Final[Mapping[str, tuple[str, ...]]] = {
    "Memory": ("recollect.memory.facade.Memory",),
    "Sessions": ("recollect.context.session.Session",),
    "Views of a memory": (
        "recollect.memory.knowledge.KnowledgeDocuments",
        "recollect.memory.shared.SharedMemory",
        "recollect.memory.archives.ToolArchives",
        "recollect.memory.items.Items",
        "recollect.memory.upkeep.Upkeep",
        "recollect.memory.audit.AuditTrail",
        "recollect.memory.workspace.WorkspaceView",
        "recollect.memory.administration.Agents",
        "recollect.memory.administration.ApiKeys",
        "recollect.memory.administration.BackgroundJobs",
    ),
    "Values": (
        "recollect.domain.record",
        "recollect.domain.hit",
        "recollect.domain.context",
        "recollect.domain.turn",
        "recollect.domain.message",
        "recollect.domain.scope",
        "recollect.domain.page",
        "recollect.domain.stats",
    ),
}


def main() -> None:
    TARGET.mkdir(exist_ok=True)
    pages = {
        "python": python_page(),
        "cli": command_page(),
        "http": http_page(),
        "errors": error_page(),
        "tools": tool_page(),
    }
    for name, text in pages.items():
        (TARGET / f"{name}.md").write_text(text.rstrip() + "\n", encoding="utf-8")
    for source, place in TAKEN_IN.items():
        copy = ROOT / "docs" / place
        copy.parent.mkdir(exist_ok=True)
        copy.write_text((ROOT / source).read_text(encoding="utf-8"), encoding="utf-8")
    print(f"wrote {len(pages) + len(TAKEN_IN)} pages", file=sys.stderr)


# --- Python ---------------------------------------------------------------------------------------


def python_page() -> str:
    """Return the page that mkdocstrings fills from the docstrings."""
    lines = [
        "# Python",
        "",
        "`recollect.sync` has the same classes and methods for blocking code, without `await`.",
    ]
    for heading, names in _PYTHON.items():
        lines += ["", f"## {heading}"]
        for name in names:
            lines += ["", f"::: {name}", "    options:", "      heading_level: 3"]
    return "\n".join(lines)


# --- The command line -----------------------------------------------------------------------------


_COMMON: Final = "Common options"


def command_page() -> str:
    root = command_line._command()
    commands = [*_commands(root, typer.Context(root, info_name="recollect"))]
    first, context = commands[0]
    lines = ["# Command line", "", command_line.EXIT_CODES, "", "Every command of a memory takes:"]
    lines += _fields("Option", _options(first, context, common=True))
    for command, context in commands:
        about = command.help or ""
        lines += ["", f"## {context.command_path}", "", about]
        if command.epilog:
            lines += ["", f"`{command.epilog.removeprefix('Example: ')}`"]
        lines += _fields("Argument or option", _options(command, context, common=False))
    return "\n".join(lines)


def _commands(group: Any, context: typer.Context) -> Iterator[tuple[Any, typer.Context]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        inner = typer.Context(command, info_name=name, parent=context)
        if hasattr(command, "list_commands"):
            yield from _commands(command, inner)
        elif not command.hidden:
            name_values(command.get_params(inner), inner)
            yield command, inner


def _options(
    command: Any, context: typer.Context, *, common: bool
) -> Iterator[tuple[str, str, str]]:
    for parameter in command.get_params(context):
        if (getattr(parameter, "rich_help_panel", None) == _COMMON) is not common:
            continue
        if parameter.name == "help" or getattr(parameter, "hidden", False):
            continue
        if parameter.param_type_name == "argument":
            name = parameter.metavar
        else:
            name = ", ".join(parameter.opts) + (f" {parameter.metavar or ''}".rstrip())
        yield name, "required" if parameter.required else "", parameter.help or ""


# --- HTTP -----------------------------------------------------------------------------------------

_METHODS: Final = ("get", "post", "put", "patch", "delete")
_SCOPE: Final = {"org", "workspace", "agent", "user"}


def http_page() -> str:
    described = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
    lines = [
        "# HTTP API",
        "",
        "Every route takes the scope as query parameters `org`, `workspace`, `agent` and `user`. "
        "A running server has the same description with a form to try it at `/docs`, and as "
        "OpenAPI at `/openapi.json`. The [guide](../http.md) explains keys, errors, pages and "
        "repeated requests.",
    ]
    for tag in described["tags"]:
        operations = [
            (method, path, operation)
            for path, item in described["paths"].items()
            for method in _METHODS
            if (operation := item.get(method)) and tag["name"] in operation.get("tags", ())
        ]
        if not operations:
            continue
        lines += ["", f"## {tag['name']}", "", tag.get("description", "")]
        for method, path, operation in operations:
            lines += ["", f"### {method.upper()} {path}", "", operation.get("description", "")]
            lines += _fields("Query and path", _parameters(operation))
            lines += _fields("Body", _body(described, operation))
    return "\n".join(lines)


def _parameters(operation: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for given in operation.get("parameters", ()):
        if given["name"] not in _SCOPE or given["in"] == "path":
            needed = "required" if given.get("required") else _default(given["schema"])
            yield given["name"], needed, given.get("description", "")


def _body(
    described: Mapping[str, Any], operation: Mapping[str, Any]
) -> Iterator[tuple[str, str, str]]:
    content = operation.get("requestBody", {}).get("content", {})
    for media in content.values():
        schema = media.get("schema", {})
        if reference := schema.get("$ref"):
            schema = described["components"]["schemas"][reference.rpartition("/")[2]]
        required = schema.get("required", ())
        for name, field in schema.get("properties", {}).items():
            needed = "required" if name in required else _default(field)
            yield name, needed, field.get("description", "")


def _default(schema: Mapping[str, Any]) -> str:
    value = schema.get("default")
    return "" if value is None else f"default: {json.dumps(value, ensure_ascii=False)}"


def _fields(heading: str, rows: Iterable[tuple[str, str, str]]) -> list[str]:
    found = [f"| `{name}` | {needed} | {_cell(about)} |" for name, needed, about in rows]
    if not found:
        return []
    return ["", f"| {heading} | | |", "|---|---|---|", *found]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


# --- Errors ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class _Raised:
    """An error as the code raises it, with `…` in the place of what is only known then."""

    code: str
    kind: str
    message: str
    hint: str


def error_page() -> str:
    kinds = _kinds()
    lines = [
        "# Errors",
        "",
        "Every error has a code, a message and a hint. In Python it is an exception of "
        "`recollect.errors`, over HTTP a problem (`application/problem+json`), at the command "
        "line an exit code with the code in brackets.",
        "",
        "| exception | code | HTTP | retry | meaning |",
        "|---|---|---|---|---|",
    ]
    for name, kind in kinds.items():
        about = _cell((kind.__doc__ or "").strip().splitlines()[0])
        status = status_of(kind("")).value
        again = "yes" if kind.retryable else ""
        lines.append(f"| `{name}` | `{kind.code}` | {status} | {again} | {about} |")
    lines += ["", "## Codes", "", "`…` stands for what is only known when it happens."]
    by_code: dict[str, list[_Raised]] = {}
    for found in sorted(set(_raised(kinds))):
        by_code.setdefault(found.code, []).append(found)
    for code, found in sorted(by_code.items()):
        lines += ["", f"### {code}", ""]
        for each in found:
            hint = f" *{_cell(each.hint)}*" if each.hint else ""
            lines.append(f"- `{each.kind}`: {_cell(each.message)}{hint}")
    return "\n".join(lines)


def _kinds() -> dict[str, type[RecollectError]]:
    return {
        name: kind
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, RecollectError)
    }


def _raised(kinds: Mapping[str, type[RecollectError]]) -> Iterator[_Raised]:
    for file in sorted(_SOURCES.rglob("*.py")):
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
                continue
            kind = kinds.get(call.func.id)
            given = {word.arg: word.value for word in call.keywords}
            code = _words(given["code"]) if "code" in given else kind.code if kind else ""
            if kind is not None and call.args and code and "…" not in code:
                message = _words(call.args[0])
                if message.strip("… "):
                    hint = _words(given["hint"]) if "hint" in given else ""
                    yield _Raised(
                        code=code, kind=call.func.id, message=message, hint=hint.strip("… ")
                    )


def _words(node: ast.expr) -> str:
    """Return a text of the code, with `…` for each part that is computed."""
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_words(part) for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _words(left) + _words(right)
        case _:
            return "…"


# --- Tools ----------------------------------------------------------------------------------------


def tool_page() -> str:
    lines = [
        "# Memory tools",
        "",
        "What a model may call, over MCP, through an adapter or with `memory.tools()`. "
        "Each has a description and a schema in English and Chinese; scopes never come from "
        "the model.",
    ]
    for spec in SPECS:
        schema = spec.schema("en")
        needed = schema.get("required", ())
        rows = (
            (
                name,
                "required" if name in needed else _default(field),
                field.get("description", "") or " / ".join(map(str, field.get("enum", ()))),
            )
            for name, field in schema["properties"].items()
        )
        lines += ["", f"## {spec.name}", "", spec.description("en"), "", spec.description("zh")]
        lines += _fields("argument", rows)
    return "\n".join(lines)


if __name__ == "__main__":
    main()
