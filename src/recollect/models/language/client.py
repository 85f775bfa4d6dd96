"""A model of any provider, through pydantic-ai: opened by name, asked for forms.

This module imports the library, so it is imported only once a configured model is asked.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import json
import logging
import random
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeVar, cast

from genai_prices import calc_price
from pydantic import BaseModel, ValidationError
from pydantic_ai import Agent, AgentRunResult, ModelRetry, TextOutput
from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    ModelAPIError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
    UserError,
)
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.models import Model, infer_model
from pydantic_ai.output import OutputSpec
from pydantic_ai.providers import Provider, infer_provider, infer_provider_class
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RunUsage

from recollect.domain.message import Message
from recollect.domain.model_tier import ModelChoice, ProviderAccess, Reply
from recollect.errors import ModelError
from recollect.models.language.faults import ModelUnavailable, bad_output, misconfigured, too_slow
from recollect.models.onnx_model import readable
from recollect.ports.language_model import Filled, Prompt, Shape, Written

# --- How to ask a model for a form: by schema, by JSON mode, or in plain words --------------------
# Not every server with a provider's API accepts a schema. One that refuses it is asked for any JSON
# object, and one that refuses that too is asked in words, and the object is searched for in its
# answer.
#
# This module imports the client library, so it is imported only once a configured model is asked.

Way = Literal["schema", "json", "text"]

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


Output = TypeVar("Output")


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


# --- A model of any provider, through pydantic-ai, with retries for busy servers ------------------

_FIRST_PAUSE_SECONDS: Final = 0.5
_MAX_PAUSE_SECONDS: Final = 20.0

_log: Final = logging.getLogger(__name__)


class RemoteModel:
    """A model behind an HTTP API."""

    def __init__(self, model: Model, *, name: str, choice: ModelChoice) -> None:
        self._name = name
        access = choice.providers.get(name.partition(":")[0], ProviderAccess())
        self._is_own_server = bool(access.base_url)
        self._model = model
        self._retries = choice.retries
        # The single retry of an answer is the repair: the library shows the model its error.
        self._agent = Agent(model, name="recollect", retries={"output": 1})
        # How to ask for a form; what the server refused once is not tried again.
        self._way: Way = "schema"

    @property
    def name(self) -> str:
        return self._name

    async def write(self, prompt: Prompt) -> Written:
        result = await self._asked(prompt, str)
        return Written(
            text=result.output,
            input_tokens=result.usage.input_tokens,
            output_tokens=result.usage.output_tokens,
            is_cut=result.response.finish_reason == "length",
        )

    async def fill(self, prompt: Prompt, shape: type[Shape]) -> Filled[Shape]:
        result = await self._asked(prompt, shape)
        return Filled(
            value=result.output,
            input_tokens=result.usage.input_tokens,
            output_tokens=result.usage.output_tokens,
        )

    async def reply(self, messages: Sequence[Message], *, max_tokens: int, seconds: float) -> Reply:
        """Return the answer to a conversation, whose last message is the user's."""
        began = time.monotonic()
        *before, last = messages
        spent = RunUsage()
        try:
            async with asyncio.timeout(seconds):
                result = await self._agent.run(
                    readable(last.text),
                    message_history=[_as_history(message) for message in before],
                    model_settings=ModelSettings(max_tokens=max_tokens),
                    usage=spent,
                )
        except TimeoutError:
            raise too_slow(self._name, seconds) from None
        except (AgentRunError, UserError) as problem:
            raise as_model_error(self._name, problem) from None
        return Reply(
            model=self._name,
            text=result.output,
            seconds=time.monotonic() - began,
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            cost=None if self._is_own_server else _price(self._name, spent),
        )

    async def close(self) -> None:
        # Exiting the context closes the connections, and only the task that entered can exit.
        async with self._model:
            pass

    async def _asked(self, prompt: Prompt, output: type[Output]) -> AgentRunResult[Output]:
        spent = RunUsage()
        try:
            async with asyncio.timeout(prompt.seconds) as limit:
                return await self._asked_in_some_way(prompt, output, spent, limit.when())
        except TimeoutError:
            failed = too_slow(self._name, prompt.seconds or 0)
        except (AgentRunError, UserError) as problem:
            failed = as_model_error(self._name, problem)
        except Exception as problem:
            if prompt.image is None:
                raise
            # Of images the library lets any error through: of their data, kind and address.
            failed = ModelError(
                f"{self._name} cannot be shown this image: {problem}",
                code="model_refused",
                hint="It is damaged, of a kind that the model does not take, or out of reach.",
            )
        raise failed.having_spent(spent.input_tokens, spent.output_tokens)

    async def _asked_in_some_way(
        self,
        prompt: Prompt,
        output: type[Output],
        spent: RunUsage,
        deadline: float | None,
    ) -> AgentRunResult[Output]:
        """Ask in the format that the server accepts, and in a simpler one if it refuses."""
        while True:
            asked = form_asked_for(output, self._way)
            try:
                return await self._tried(prompt, asked, spent, deadline)
            except ModelHTTPError as problem:
                simpler = simpler_way(self._way)
                if output is str or simpler is None or not refuses_form(problem):
                    raise
                _log.info(
                    "%s takes no form as %s, so it is asked as %s", self._name, self._way, simpler
                )
                self._way = simpler

    async def _tried(
        self,
        prompt: Prompt,
        asked: AskedFor[Output],
        spent: RunUsage,
        deadline: float | None,
    ) -> AgentRunResult[Output]:
        """Ask, and retry after a pause while that may help and time is left."""
        told = "\n\n".join(filter(None, (readable(prompt.system), asked.instructions)))
        for attempt in itertools.count():
            try:
                return await self._agent.run(
                    _shown(prompt),
                    output_type=asked.output,
                    instructions=told or None,
                    model_settings=self._settings(prompt, asked),
                    usage=spent,
                )
            except ModelAPIError as problem:
                pause = _pause(attempt, problem.retry_after)
                if attempt == self._retries or not may_pass(problem):
                    raise
                if deadline is not None and asyncio.get_running_loop().time() + pause > deadline:
                    raise
                await asyncio.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def _settings(self, prompt: Prompt, asked: AskedFor[Output]) -> ModelSettings:
        settings = ModelSettings(max_tokens=prompt.max_tokens, temperature=prompt.temperature)
        if asked.is_json:
            settings["extra_body"] = {"response_format": {"type": "json_object"}}
        # Retries are counted here, the same for every provider.
        if "max_retries" not in self._model.unsupported_settings:
            settings["max_retries"] = 0
        return settings


def _shown(prompt: Prompt) -> str | list[UserContent]:
    """Return what the model is to read, and the image it is to look at."""
    match prompt.image:
        case {"media_type": str(kind), "data": str(data)}:
            image = BinaryContent(data=base64.b64decode(data), media_type=kind)
            return [readable(prompt.text), image]
        case {"url": str(url)}:
            return [readable(prompt.text), ImageUrl(url=url)]
        case _:
            return readable(prompt.text)


def _as_history(message: Message) -> ModelMessage:
    """Return a message of the conversation as the library has it; only text is sent."""
    text = readable(message.text)
    if message.role == "assistant":
        return ModelResponse(parts=[TextPart(text)])
    is_system = message.role == "system"
    return ModelRequest(parts=[SystemPromptPart(text) if is_system else UserPromptPart(text)])


def _price(name: str, spent: RunUsage) -> float | None:
    """Return the provider's list price in US dollars, or None for an unknown model."""
    provider, _, model = name.partition(":")
    try:
        return float(calc_price(spent, model, provider_id=provider).total_price)
    except LookupError:
        return None


def _pause(attempt: int, asked: float | None) -> float:
    """Return the next pause: longer each time, with jitter, or as the server asks for."""
    if asked is not None:
        return min(asked, _MAX_PAUSE_SECONDS)
    longest: float = min(_FIRST_PAUSE_SECONDS * 2**attempt, _MAX_PAUSE_SECONDS)
    return longest * random.uniform(0.5, 1)


# --- Translation of the client library's errors into ours -----------------------------------------


_TOO_MANY_REQUESTS: Final = 429
_MAX_QUOTE_CHARACTERS: Final = 200


def may_pass(problem: ModelAPIError) -> bool:
    """Return whether a retry may help: the server is busy, failing or unreachable."""
    if isinstance(problem, ModelQuotaExceededError):
        return False
    if isinstance(problem, ModelHTTPError):
        return problem.status_code == _TOO_MANY_REQUESTS or problem.status_code >= 500
    return not isinstance(problem, ModelRequestRejectedError)


def as_model_error(model: str, problem: AgentRunError | UserError) -> ModelError:
    """Return our error for an error of the library."""
    match problem:
        case UserError():
            return misconfigured(model, problem.message)
        case ModelContextWindowExceededError():
            return ModelError(
                f"{model} cannot read that much at once: {_said(problem)}",
                code="model_too_long",
                hint="Ask about less text, or choose a model with a larger window.",
            )
        case ModelAPIError() if may_pass(problem):
            return ModelUnavailable(
                f"{model} is not answering: {_said(problem)}",
                hint="It may answer later; nothing was lost.",
            )
        case ModelAPIError():
            return ModelError(
                f"{model} refused the call: {_said(problem)}",
                code="model_refused",
                hint="Check the model's name and models.providers: base_url and api_key.",
            )
        case ContentFilterError():
            return ModelError(
                f"{model} declined to answer about this text",
                code="model_declined",
                hint="The provider's content filter stopped it; another model may answer.",
            )
        case _:
            return bad_output(model, problem.message)


def _said(problem: ModelAPIError) -> str:
    """Return the provider's error message, shortened."""
    if not isinstance(problem, ModelHTTPError):
        return problem.message[:_MAX_QUOTE_CHARACTERS]
    return f"{problem.status_code} {_words(problem.body)[:_MAX_QUOTE_CHARACTERS]}".strip()


def _words(body: object) -> str:
    if not isinstance(body, Mapping):
        return str(body or "")
    told = cast("Mapping[str, Any]", body)
    inner = told.get("error")
    return str(told.get("message") or (_words(cast("object", inner)) if inner else ""))


# --- Opening a model by its name, with the address and key of its provider ------------------------
# This module imports the client library, so it is imported only once a configured model is asked.

# The client needs a key even if the server does not; the key of the environment is not for it.
_NO_KEY: Final = "none"
# Where these are given an address, it is a server with OpenAI's chat API, or a part of it.
_COMPATIBLE: Final = frozenset({"openai", "ollama"})


def open_model(name: str, choice: ModelChoice) -> RemoteModel:
    """Open the model `provider:model` with the access in the settings."""
    provider, _, model = name.partition(":")
    access = choice.providers.get(provider, ProviderAccess())
    try:
        if provider in _COMPATIBLE and access.base_url:
            opened = _on_compatible_server(model, access)
        else:
            opened = infer_model(name, lambda kind: _provider(kind, access))
    except (UserError, ImportError, ValueError) as problem:
        raise misconfigured(name, str(problem)) from None
    return RemoteModel(opened, name=name, choice=choice)


def _on_compatible_server(model: str, access: ProviderAccess) -> Model:
    """Open a model on a server with OpenAI's chat API, or a part of it."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    least_common = OpenAIModelProfile(
        # Small models are poor at calling tools, but a server can enforce a schema.
        default_structured_output_mode="native",
        supports_json_schema_output=True,
        # If it does not, the model has at least read the schema.
        native_output_requires_schema_in_instructions=True,
        openai_chat_supports_multiple_system_messages=False,
        openai_chat_supports_max_completion_tokens=False,
    )
    return OpenAIChatModel(model, provider=_provider("openai", access), profile=least_common)


def _provider(kind: str, access: ProviderAccess) -> Provider[Any]:
    key = access.api_key or (_NO_KEY if access.base_url else "")
    named = {"base_url": access.base_url, "api_key": key}
    given = {argument: value for argument, value in named.items() if value}
    if not given:
        return infer_provider(kind)
    try:
        return infer_provider_class(kind)(**given)
    except TypeError:
        raise UserError(f"{kind} cannot be given {' and '.join(given)} here") from None
