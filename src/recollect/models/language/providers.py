"""Opening a model by its name, with the address and key of its provider.

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

# The client needs a key even if the server does not; the key of the environment is not for it.
_NO_KEY: Final = "none"


def open_model(name: str, choice: ModelChoice) -> RemoteModel:
    """Open the model `provider:model` with the access in the settings."""
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
