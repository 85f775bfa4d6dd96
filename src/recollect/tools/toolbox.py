"""The tools of one caller for any framework: their schemas, and calls by name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from recollect.domain.context import TONGUES, Tongue, checked_choice
from recollect.domain.fields import MAX_LABEL, checked_text
from recollect.domain.memory_tools import plain_name
from recollect.domain.scope import Caller
from recollect.domain.views import Json
from recollect.errors import InvalidInput, NotFound, RecollectError
from recollect.tools.specs import SPECS, ToolSpec
from recollect.tools.tool_context import ToolContext

if TYPE_CHECKING:
    from recollect.assemble.container import Wiring


def open_toolbox(
    opened: Wiring,
    caller: Caller,
    own_session: str,
    session: str | None,
    language: Tongue,
) -> Toolbox:
    """Return the caller's tools; none if memory is disabled for the agent.

    `session` is the one in which they are called: they use its scratchpad, and what they return
    is counted once in it. The default is the memory's own session.
    """
    if session is not None:
        checked_text(session, "session", MAX_LABEL)
    context = ToolContext(
        opened=opened,
        caller=caller,
        session=own_session if session is None else session,
        named_session=session,
        language=checked_choice(language, TONGUES),
    )
    agent = context.parts.settings.agent(caller.scope.agent)
    return Toolbox(context, SPECS if agent.enabled else ())


class Toolbox:
    """The tools for a model: their descriptions, and the answers to its calls.

    The scope is fixed when the toolbox is opened; no argument changes it.
    """

    def __init__(self, context: ToolContext, specs: Sequence[ToolSpec]) -> None:
        self._context = context
        self._language: Tongue = context.language
        self._defaults: Mapping[str, int | float] = context.defaults
        self._specs = {spec.name: spec for spec in specs}

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Return the tools in order; none if memory is disabled for the agent."""
        return tuple(self._specs.values())

    def openai(self) -> list[Json]:
        """Return the tools in the format of OpenAI's chat completions."""
        return [{"type": "function", "function": self._function(spec)} for spec in self.specs]

    def anthropic(self) -> list[Json]:
        """Return the tools in the format of Anthropic's messages."""
        return [
            {
                "name": spec.name,
                "description": spec.description(self._language),
                "input_schema": spec.schema(self._language, self._defaults),
            }
            for spec in self.specs
        ]

    def json_schemas(self) -> list[Json]:
        """Return the tools with their titles, for people and other frameworks."""
        return [
            {"title": spec.title(self._language), **self._function(spec)} for spec in self.specs
        ]

    async def call(self, name: str, arguments: Mapping[str, Any] | str = "") -> str:
        """Answer a call of a model with short JSON, or with the text of a loaded result.

        Errors are returned as `{"error": {code, message, hint}}`, so that the model can retry.
        """
        try:
            result = await self.run(name, arguments)
        except RecollectError as problem:
            told = {"code": problem.code, "message": problem.message, "hint": problem.hint}
            result = {"error": told}
        return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)

    async def run(self, name: str, arguments: Mapping[str, Any] | str = "") -> Any:
        """Answer a call of a program: return the result as a value, and raise errors."""
        spec = self._spec(name)
        return await spec.run(self._context, spec.checked(as_mapping(arguments)))

    def _spec(self, name: str) -> ToolSpec:
        for spec in self.specs:
            if spec.name == plain_name(name):
                return spec
        raise NotFound(
            f"There is no tool {name!r}",
            code="unknown_tool",
            hint=f"There are: {', '.join(self._specs)}."
            if self._specs
            else "Memory is disabled for this agent.",
        )

    def _function(self, spec: ToolSpec) -> Json:
        return {
            "name": spec.name,
            "description": spec.description(self._language),
            "parameters": spec.schema(self._language, self._defaults),
        }


def as_mapping(arguments: Mapping[str, Any] | str) -> Mapping[str, Any]:
    """Return the arguments of a call, which models write as JSON or leave empty."""
    given: object = arguments
    if isinstance(arguments, str):
        try:
            given = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError) as broken:
            raise InvalidInput(
                f"The arguments are not valid JSON: {broken}", code="invalid_json"
            ) from None
    if not isinstance(given, Mapping):
        raise InvalidInput("The arguments must be one JSON object", code="wrong_type")
    return cast("Mapping[str, Any]", given)
