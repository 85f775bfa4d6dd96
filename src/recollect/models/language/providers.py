"""Opening a model by its name: the provider's client, with the address and key that were given.

This module imports the client library, so it is imported only once a configured model is asked.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, infer_provider, infer_provider_class

from recollect.domain.model_tier import ModelChoice, ProviderAccess
from recollect.models.language.client import RemoteModel
from recollect.models.language.faults import misconfigured

# The client wants a key even where the server does not; the environment's belongs to another.
_NO_KEY: Final = "none"


def open_model(name: str, choice: ModelChoice) -> RemoteModel:
    """The model `provider:model`, reached as the choice says."""
    provider, _, model = name.partition(":")
    access = choice.providers.get(provider, ProviderAccess())
    try:
        if provider == "openai" and access.base_url:
            opened = _on_compatible_server(model, access)
        else:
            opened = infer_model(name, lambda kind: _provider(kind, access))
    except (UserError, ImportError, ValueError) as problem:
        raise misconfigured(name, str(problem)) from None
    return RemoteModel(opened, name=name, choice=choice)


def _on_compatible_server(model: str, access: ProviderAccess) -> Model:
    """A model on a server that speaks OpenAI's chat API, however little of it."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    least_common = OpenAIModelProfile(
        # Small models are poor at calling tools; a server can hold them to a schema.
        default_structured_output_mode="native",
        supports_json_schema_output=True,
        # And where it does not, the model has at least read it.
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
