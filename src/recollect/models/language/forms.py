"""How to ask a model for a form: by schema, by JSON mode, or in plain words.

Not every server with a provider's API accepts a schema. One that refuses it is asked for any JSON
object, and one that refuses that too is asked in words, and the object is searched for in its
answer.

This module imports the client library, so it is imported only once a configured model is asked.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar, cast

from pydantic import BaseModel, ValidationError
from pydantic_ai import ModelRetry, TextOutput
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.output import OutputSpec

Way = Literal["schema", "json", "text"]
Output = TypeVar("Output")

_SIMPLER_FORMAT: Final[dict[Way, Way]] = {"schema": "json", "json": "text"}
# Statuses of servers for requests that they do not understand or support.
_REFUSAL_STATUSES: Final = frozenset({400, 404, 405, 415, 422, 500, 501})
_ABOUT_FORMS: Final = re.compile(
    r"response[_ ]?format|json[_ ]?(?:schema|object|mode)|structured|schema|grammar|tools?\b"
    r"|tool_choice|function[_ ]?call|extra (?:inputs|fields)|unrecognized|unsupported|not supported"
    r"|unknown (?:field|parameter)",
    re.IGNORECASE,
)
_IN_WORDS: Final = (
    "Answer with one JSON object that fits this JSON schema, and with nothing else:\n{schema}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedFor(Generic[Output]):
    """What to pass to the client library for an answer of one type."""

    output: OutputSpec[Output]
    instructions: str = ""
    is_json: bool = False


def simpler_way(way: Way) -> Way | None:
    """Return the next way to ask, or None after the last."""
    return _SIMPLER_FORMAT.get(way)


def refuses_form(problem: ModelHTTPError) -> bool:
    """Return whether a server refuses the way a form was asked for, not the question."""
    return problem.status_code in _REFUSAL_STATUSES and bool(_ABOUT_FORMS.search(str(problem.body)))


def form_asked_for(output: type[Output], way: Way) -> AskedFor[Output]:
    """Return how to ask for this output in this way; plain text needs no way."""
    if way == "schema" or not issubclass(output, BaseModel):
        return AskedFor(output=output)
    shape: type[BaseModel] = output

    def read(text: str) -> Output:
        try:
            return cast("Output", shape.model_validate(_object_in(text)))
        except ValidationError as problem:
            raise ModelRetry(f"This does not fit the schema: {problem}") from None

    schema = json.dumps(shape.model_json_schema(), ensure_ascii=False)
    return AskedFor(
        output=TextOutput(read),
        instructions=_IN_WORDS.format(schema=schema),
        is_json=way == "json",
    )


def _object_in(text: str) -> Any:
    """Return the first JSON object in a text, whatever is said around it."""
    decoder = json.JSONDecoder()
    for brace in re.finditer(r"\{", text):
        try:
            found, _ = decoder.raw_decode(text, brace.start())
        except (ValueError, RecursionError):
            continue
        return found
    raise ModelRetry("There is no JSON object in the answer. Answer with one JSON object only.")
