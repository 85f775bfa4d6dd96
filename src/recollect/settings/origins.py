"""The origin of each setting: a default, the file, the environment, or the caller."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python

from recollect.errors import SettingsError
from recollect.settings import Settings
from recollect.settings.sections import leaves
from recollect.settings.sources import from_file, settings_file, variables_by_place

Origin = Literal["default", "file", "environment", "given"]
SECRET: Final = "(secret)"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingInUse:
    """An effective setting; the value of a secret one is left out."""

    name: str
    value: Any
    is_secret: bool
    origin: Origin
    variable: str | None
    description: str


def settings_in_use(settings: Settings) -> tuple[SettingInUse, ...]:
    """Return every setting, with where it comes from."""
    try:
        written, usual = from_file(settings_file()), Settings.load()
    except SettingsError:
        # Settings that were passed in do not depend on a file that cannot be read.
        written, usual = {}, Settings()
    variables = variables_by_place(os.environ)
    known = {place: value for place, value, _ in leaves(usual)}
    return tuple(
        _in_use(place, value, field, known, written, variables)
        for place, value, field in leaves(settings)
    )


def _in_use(
    place: tuple[str, ...],
    value: Any,
    field: FieldInfo,
    known: Mapping[tuple[str, ...], Any],
    written: Mapping[str, Any],
    variables: Mapping[tuple[str, ...], str],
) -> SettingInUse:
    variable = next((name for at, name in variables.items() if place[: len(at)] == at), None)
    origin: Origin = "default"
    if place not in known or known[place] != value:
        origin, variable = "given", None
    elif variable is not None:
        origin = "environment"
    elif _is_written(written, place):
        origin = "file"
    is_secret = not field.repr
    return SettingInUse(
        name=".".join(place),
        value=SECRET if is_secret and value else to_jsonable_python(value),
        is_secret=is_secret,
        origin=origin,
        variable=variable,
        description=field.description or "",
    )


def _is_written(tree: Mapping[str, Any], place: tuple[str, ...]) -> bool:
    inner: object = tree
    for part in place:
        if not isinstance(inner, Mapping) or part not in inner:
            return False
        inner = cast("Mapping[str, object]", inner)[part]
    return True
