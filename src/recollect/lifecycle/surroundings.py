"""What `doctor` finds around the database: the program, settings, folders, disk, the embedder."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final

from recollect.domain.diagnosis import Finding, Verdict
from recollect.domain.embedder import EmbedderCheck, EmbedderState

_MEGABYTE: Final = 1 << 20
_LITTLE_SPACE: Final = 500 * _MEGABYTE


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where things are kept, and which settings are not the usual ones."""

    settings_file: Path
    changed_settings: Mapping[str, str]
    data_dir: Path
    database: Path
    log_file: Path


def look_around(places: Places) -> list[Finding]:
    """The findings that need neither the database nor a model."""
    return [
        _program(),
        _settings(places),
        _data_directory(places.data_dir),
        _disk(places.database.parent),
        _log_file(places.log_file),
    ]


def unusable_settings(message: str, hint: str) -> list[Finding]:
    """All that can be found when the settings cannot be used."""
    return [
        _program(),
        Finding(part="settings", verdict="problem", message=message, hint=hint),
    ]


def embedder_finding(tried: EmbedderCheck, state: EmbedderState | None) -> Finding:
    """How the embedder in use did; `state` is what the catalogue knows of it."""
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
            message=f"{tried.name}: {tried.problem}. Recall goes by words only",
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
    """A default that was never fetched is a choice; one that should be there and fails is not."""
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
        message=f"{places.settings_file}{'' if is_there else ' (not there, not needed)'}; "
        + (f"not the usual: {told}" if told else "everything as usual"),
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
            message=f"{nearest} is not a folder that may be written to; nothing can be kept",
            hint="Mend its permissions, or choose another place with RECOLLECT_DATA_DIR.",
            figures=figures,
        )
    told = str(folder) if is_there else f"{folder} (made when something is first kept)"
    return Finding(part="data directory", message=told, figures=figures)


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(_nearest(folder)).free
    is_little = free < _LITTLE_SPACE
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
            hint=f"Mend the permissions of {folder}.",
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


def _nearest(path: Path) -> Path:
    """The path itself, or the nearest folder above it that is there."""
    return next(place for place in (path.absolute(), *path.absolute().parents) if place.exists())
