"""The JSON schema of a tool's arguments, short and in one language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from pydantic import BaseModel

from recollect.domain.context import Tongue
from recollect.domain.views import Json
from recollect.tools.arguments import CHINESE

_REFERENCE: Final = "#/$defs/"
_OPTIONAL: Final = {"type": "null"}


def schema_of(
    arguments: type[BaseModel], language: Tongue, defaults: Mapping[str, object] | None = None
) -> Json:
    """Return the schema of a tool's arguments in one language, without references.

    `defaults` are the defaults of the settings.
    """
    whole = arguments.model_json_schema()
    definitions = cast("Mapping[str, Json]", whole.pop("$defs", {}))
    # The tool has its own description; docstrings of classes are for readers of the code.
    whole.pop("description", None)
    schema = _plain(whole, definitions, language)
    for name, default in (defaults or {}).items():
        if "default" in schema["properties"].get(name, {}):
            schema["properties"][name]["default"] = default
    return schema


def _plain(schema: Json, definitions: Mapping[str, Json], language: Tongue) -> Json:
    own = _resolved(schema, definitions)
    chinese = own.pop(CHINESE, None)
    if language == "zh" and chinese is not None:
        own["description"] = chinese
    own.pop("title", None)
    if own.get("default", ...) is None:
        del own["default"]
    if "properties" in own:
        properties = cast("Mapping[str, Json]", own["properties"])
        own["properties"] = {
            name: _plain(inner, definitions, language) for name, inner in properties.items()
        }
    if "items" in own:
        own["items"] = _plain(cast("Json", own["items"]), definitions, language)
    return own


def _resolved(schema: Json, definitions: Mapping[str, Json]) -> Json:
    """Return the schema without references and without the alternative `null`."""
    own: Json = dict(schema)
    choices = cast("list[Json]", own.pop("anyOf", []))
    parts = [choice for choice in choices if choice != _OPTIONAL]
    if "$ref" in own:
        parts.append({"$ref": own.pop("$ref")})
    for part in parts:
        named = part.get("$ref")
        inner: Mapping[str, Any] = part
        if isinstance(named, str):
            inner = {**definitions[named.removeprefix(_REFERENCE)]}
            # The field has the description, not its class.
            inner.pop("description", None)
        own = {**inner, **own}
    return own
