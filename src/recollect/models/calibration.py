"""Calibration of an embedding model, so that thresholds hold for any model."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from importlib.resources import files
from pathlib import Path
from typing import Final

import numpy as np

from recollect.domain.embedding import MemoryCalibration
from recollect.errors import NotAllowed
from recollect.models.model_folder import CALIBRATION, read_settings
from recollect.ports.embedder import Embedder

_PAIRS: Final = "calibration_pairs.tsv"
_DIGITS: Final = 4


async def measure(embedder: Embedder) -> MemoryCalibration:
    """Return the usual figures with the model's own cosines of what belongs together or not."""
    lines = files("recollect.models").joinpath(_PAIRS).read_text("utf-8").splitlines()
    questions, answers = zip(*(line.split("\t") for line in lines), strict=True)
    asked = await embedder.embed(questions, "query")
    told = await embedder.embed(answers, "passage")
    cosines = asked @ told.T
    belongs = np.eye(len(lines), dtype=bool)
    return replace(
        MemoryCalibration(),
        unrelated=round(float(np.median(cosines[~belongs])), _DIGITS),
        related=round(float(np.median(cosines[belongs])), _DIGITS),
    )


def store(folder: Path, memory: MemoryCalibration) -> Path:
    """Write the figures into the model's folder, beside what is there for other uses."""
    file = folder / CALIBRATION
    sections = {**read_settings(file), "memory": asdict(memory)}
    try:
        file.write_text(json.dumps(sections, indent=1) + "\n", "utf-8")
    except OSError as problem:
        raise NotAllowed(
            f"{file} cannot be written: {problem.strerror}. Nothing was changed.",
            code="calibration_not_written",
            hint="Copy the model into a folder of your own and calibrate it there.",
        ) from None
    return file
