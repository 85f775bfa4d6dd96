"""Changing one value of the settings file; everything else in it stays as somebody wrote it."""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.domain.files import make_folder, make_private
from recollect.errors import SettingsError


def write_setting(path: Path, section: str, name: str, value: str) -> None:
    """Put a value into the file, which is made if it is missing and changes in one step."""
    write_settings(path, {(section, name): value})


def write_settings(
    path: Path, values: Mapping[tuple[str, str], str], *, template: str = "", secret: bool = False
) -> None:
    """Put values into the file in one step; a missing file is made from the template.

    A file with a `secret` in it is readable only by its owner afterwards.
    """
    try:
        # A link goes on pointing at the file that somebody keeps elsewhere.
        file = path.resolve()
        before = file.read_bytes().decode() if file.exists() else ""
        after = before or template
        for (section, name), value in values.items():
            after = with_setting(after, section, name, value)
        if after != before:
            make_folder(file.parent)
            _replace(file, after)
        if secret:
            make_private(file)
    except OSError as problem:
        raise SettingsError(
            f"The settings file {path} cannot be written: {problem.strerror}",
            code="settings_not_writable",
            hint="Fix its permissions, or name another file with RECOLLECT_SETTINGS.",
        ) from None


def with_setting(text: str, section: str, name: str, value: str) -> str:
    """Return the text of a settings file with one value added or changed.

    The section may lie in others: `models.providers.openai`.
    """
    wanted: dict[str, Any] = tomllib.loads(text)
    table = wanted
    for part in section.split("."):
        table = table.setdefault(part, {})
    table[name] = value
    # Where it belongs is guessed and what comes out is read back, so a wrong guess does no harm.
    for changed in _attempts(text, section, name, value):
        if _means(changed, wanted):
            return changed
    raise SettingsError(
        f"{section}.{name} could not be put into the settings file; it was left as it is",
        code="settings_not_changed",
        hint=f"Write under [{section}]: {name} = {_quoted(value)}",
    )


def _attempts(text: str, section: str, name: str, value: str) -> Iterator[str]:
    """Yield the text with the value at each place where it may belong."""
    yield text
    newline = "\r\n" if "\r\n" in text else "\n"
    if text and not text.endswith("\n"):
        text += newline
    pair = f"{name} = {_quoted(value)}"
    heading = re.escape(section)
    in_a_table = rf"""["']?{heading}["']?[ \t]*=[ \t]*\{{(?P<spot>)"""
    places = (
        # Where it has a value.
        (rf"""{name}["']?[ \t]*=[ \t]*(?P<spot>"(\\.|[^"\\\n])*"|'[^'\n]*')""", _quoted(value)),
        # Below the heading of its section.
        (rf"""^[ \t]*\[[ \t]*["']?{heading}["']?[ \t]*\][^\n]*\n(?P<spot>)""", pair + newline),
        # Before others of its section that are written without a heading.
        (rf"""^(?P<spot>)[ \t]*["']?{heading}["']?[ \t]*\.""", f"{section}.{pair}{newline}"),
        # In the braces of its section.
        (in_a_table, f" {pair},"),
        (in_a_table, f" {pair} "),
        # In a section of its own.
        (r"(?P<spot>)\Z", f"{newline if text else ''}[{section}]{newline}{pair}{newline}"),
    )
    for place, written in places:
        for match in re.finditer(place, text, re.MULTILINE):
            yield text[: match.start("spot")] + written + text[match.end("spot") :]


def _means(text: str, wanted: dict[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == wanted
    except tomllib.TOMLDecodeError:
        return False


def _quoted(value: str) -> str:
    """Return a text as a TOML string: JSON's form, but for one character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _replace(file: Path, text: str) -> None:
    with tempfile.NamedTemporaryFile(
        dir=file.parent, prefix=f".{file.name}-", delete=False
    ) as draft:
        draft.write(text.encode())
    unfinished = Path(draft.name)
    try:
        if file.exists():
            shutil.copymode(file, unfinished)
        unfinished.replace(file)
    finally:
        unfinished.unlink(missing_ok=True)
