"""The findings of `doctor` about the program, settings, folders, disk and models."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from recollect.domain.embedding import EmbedderCheck, EmbedderState
from recollect.domain.files import is_private
from recollect.domain.model_tier import LANGUAGE_TASKS, LanguageTask
from recollect.domain.stats import Finding, Verdict
from recollect.errors import ModelError
from recollect.ports.language_model import LanguageModel, LanguageModels, Prompt

_MEGABYTE: Final = 1 << 20
_MAX_LISTED: Final = 3
_LOW_SPACE_BYTES: Final = 500 * _MEGABYTE
_QUESTION: Final = Prompt(text="Answer with the word yes.", max_tokens=8)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where things are stored, and which settings differ from the defaults."""

    settings_file: Path
    changed_settings: Mapping[str, str]
    data_dir: Path
    database: Path
    log_file: Path
    private: tuple[Path, ...] = ()
    """Files and folders with content, which only the owner should be able to read."""


def look_around(places: Places) -> list[Finding]:
    """Return the findings that need neither the database nor a model."""
    return [
        _program(),
        _settings(places),
        _data_directory(places.data_dir),
        _disk(places.database.parent),
        _log_file(places.log_file),
        _permissions(places.private),
    ]


def unusable_settings(message: str, hint: str) -> list[Finding]:
    """Return the findings when the settings are invalid."""
    return [
        _program(),
        Finding(part="settings", verdict="problem", message=message, hint=hint),
    ]


def embedder_finding(tried: EmbedderCheck, state: EmbedderState | None) -> Finding:
    """Return the finding about the embedder; `state` is its entry in the catalogue."""
    figures: dict[str, object] = {
        "name": tried.name,
        "condition": state.condition if state else "",
        "works": tried.works,
        "model": tried.model,
        "dimension": tried.dimension,
        "query_ms": round(tried.query_ms, 2),
        "notes": tried.notes,
    }
    if not tried.works:
        return Finding(
            part="embedder",
            verdict=_without_embedder(tried, state),
            message=f"{tried.name}: {tried.problem}. Recall uses words only",
            hint=tried.hint,
            figures=figures,
        )
    if not tried.model:
        return Finding(part="embedder", message="; ".join(("none", *tried.notes)), figures=figures)
    told = f"{tried.name}: {tried.model}, {tried.dimension} dimensions, {tried.query_ms:.1f} ms"
    return Finding(
        part="embedder",
        verdict="warning" if tried.notes else "ok",
        message="; ".join((told, *tried.notes)),
        figures=figures,
    )


def _without_embedder(tried: EmbedderCheck, state: EmbedderState | None) -> Verdict:
    """Return a warning for a default model that was never installed, else a problem."""
    is_absent = state is not None and state.condition in {"not_found", "not_installed"}
    return "warning" if tried.name == "local" and is_absent else "problem"


def _program() -> Finding:
    number = version("recollect")
    python = platform.python_version()
    return Finding(
        part="version",
        message=f"recollect {number}, Python {python}, SQLite {sqlite3.sqlite_version}, "
        f"{platform.system()} {platform.machine()}",
        figures={"recollect": number, "python": python, "sqlite": sqlite3.sqlite_version},
    )


def _settings(places: Places) -> Finding:
    is_there = places.settings_file.exists()
    changed = dict(places.changed_settings)
    told = "; ".join(f"{name} = {value}" for name, value in changed.items())
    return Finding(
        part="settings",
        message=f"{places.settings_file}{'' if is_there else ' (does not exist, not needed)'}; "
        + (f"changed: {told}" if told else "everything as usual"),
        figures={"file": str(places.settings_file), "exists": is_there, "changed": changed},
    )


def _data_directory(folder: Path) -> Finding:
    is_there = folder.exists()
    nearest = _nearest(folder)
    is_writable = nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)
    figures = {"path": str(folder), "exists": is_there, "writable": is_writable}
    if not is_writable:
        return Finding(
            part="data directory",
            verdict="problem",
            message=f"{nearest} is not a writable folder; nothing can be stored",
            hint="Fix its permissions, or choose another folder with RECOLLECT_DATA_DIR.",
            figures=figures,
        )
    told = str(folder) if is_there else f"{folder} (created when something is first stored)"
    return Finding(part="data directory", message=told, figures=figures)


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(_nearest(folder)).free
    is_little = free < _LOW_SPACE_BYTES
    return Finding(
        part="disk",
        verdict="warning" if is_little else "ok",
        message=f"{free // _MEGABYTE:,} MB free"
        + (": saving stops when nothing is left" if is_little else ""),
        hint="Free some space, or move the data with RECOLLECT_DATA_DIR." if is_little else "",
        figures={"free_bytes": free},
    )


def _log_file(file: Path) -> Finding:
    figures = {"path": str(file), "exists": file.exists()}
    folder = _nearest(file.parent)
    if not (folder.is_dir() and os.access(file if file.exists() else folder, os.W_OK)):
        return Finding(
            part="log file",
            verdict="warning",
            message=f"{file} cannot be written: warnings are lost",
            hint=f"Fix the permissions of {folder}.",
            figures=figures,
        )
    if not file.exists():
        return Finding(part="log file", message=f"{file} (no warning so far)", figures=figures)
    changed = datetime.fromtimestamp(file.stat().st_mtime, UTC).astimezone()
    return Finding(
        part="log file",
        message=f"{file}, last warning {changed:%Y-%m-%d %H:%M}",
        figures=figures | {"bytes": file.stat().st_size, "changed_at": changed},
    )


def _permissions(private: Sequence[Path]) -> Finding:
    open_to_others = [path for path in private if not is_private(path)]
    if not open_to_others:
        return Finding(part="permissions", message="nobody else can read the data")
    some = ", ".join(map(str, open_to_others[:_MAX_LISTED]))
    more = f" and {len(open_to_others) - _MAX_LISTED:,} more"
    return Finding(
        part="permissions",
        verdict="warning",
        message=f"others on this machine may read {some}"
        + (more if len(open_to_others) > _MAX_LISTED else ""),
        hint="`recollect doctor --fix` removes their access.",
        figures={"open_to_others": [str(path) for path in open_to_others]},
    )


def _nearest(path: Path) -> Path:
    """Return the path, or the nearest existing folder above it."""
    return next(place for place in (path.absolute(), *path.absolute().parents) if place.exists())


async def check_models(models: LanguageModels) -> list[Finding]:
    """Ask every configured tier one short question and return the findings."""
    checks = (
        _checked(task, model) for task in LANGUAGE_TASKS if (model := models.of(task)) is not None
    )
    return list(await asyncio.gather(*checks))


async def _checked(task: LanguageTask, model: LanguageModel) -> Finding:
    began = time.monotonic()
    try:
        await model.write(_QUESTION)
    except ModelError as problem:
        return Finding(
            part=f"{task} model",
            verdict="warning",
            message=f"{problem.message}; rules are used instead",
            hint=problem.hint,
            figures={"model": model.name, "code": problem.code},
        )
    seconds = time.monotonic() - began
    return Finding(
        part=f"{task} model",
        message=f"{model.name} answered within {seconds:.1f} s",
        figures={"model": model.name, "seconds": round(seconds, 2)},
    )
