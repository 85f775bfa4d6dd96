"""The words and patterns of both languages are data: files are well formed, names are used."""

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from recollect import language
from recollect.language.lexicon import LANGUAGES, SECTIONS, Lexicon, entries, lexicon

_PACKAGE = Path(language.__file__).parent
_FILES = sorted(
    path.relative_to(_PACKAGE / "data").with_suffix("").as_posix()
    for path in (_PACKAGE / "data").glob("*/*.toml")
)
_PATTERN_KEYS = frozenset(
    {"start", "at_words", "anywhere", "also", "unless", "pattern", "opening", "early", "whole"}
)
_RULE_KEYS = _PATTERN_KEYS | {
    *("category", "clue", "clues", "confidence", "event", "label", "name", "recurring"),
    *("intent", "only_words", "outside_dialogue", "same_as_english"),
}
# The packages that read the files.
_READERS = (_PACKAGE, _PACKAGE.parent / "recall")


def _raw(file: str) -> dict:
    return tomllib.loads((_PACKAGE / "data" / f"{file}.toml").read_text(encoding="utf-8"))


def _lexicon(file: str) -> Lexicon:
    folder, name = file.split("/")
    return next(lexicon(it, name) for it in LANGUAGES if it == folder)


@pytest.mark.parametrize("file", _FILES)
def test_a_file_has_known_sections_and_sorted_sets(file):
    data = _raw(file)
    assert set(data) <= SECTIONS
    for name, words in data.get("words", {}).items():
        assert list(entries(words)) == sorted(set(entries(words))), f"sort [words] {name}"
    for name, letters in data.get("letters", {}).items():
        found = "".join(letters.split())
        assert found == "".join(sorted(set(found))), f"sort [letters] {name}"
    names = [*chain.from_iterable(data.get(it, ()) for it in ("words", "letters", "patterns"))]
    names += data.get("at_words", ())
    assert len(names) == len(set(names)), "a name stands for one thing"


@pytest.mark.parametrize("file", _FILES)
def test_every_pattern_of_a_file_compiles(file):
    data, words = _raw(file), _lexicon(file)
    for name in chain(data.get("words", ()), data.get("patterns", ()), data.get("at_words", ())):
        words.regex(name)
    for entry in chain(data.get("signs", {}).values(), data.get("rules", ())):
        assert set(entry) <= _RULE_KEYS
        for key in _PATTERN_KEYS & set(entry):
            re.compile(words.either(entry[key]))


def test_every_name_is_used():
    modules = chain.from_iterable(package.rglob("*.py") for package in _READERS)
    code = "\n".join(path.read_text(encoding="utf-8") for path in modules)
    patterns = "\n".join(
        path.read_text(encoding="utf-8") for path in (_PACKAGE / "data").glob("*/*.toml")
    )
    used = set(re.findall(r"""["'](\w+)["']""", code))
    used |= set(re.findall(r"\{(?:\w+\.)?(\w+)\}", patterns))
    unused = {
        f"{file}: {name}"
        for file in _FILES
        for section, names in _raw(file).items()
        if section != "rules" and not file.endswith("/stop_words")
        for name in names
        if name not in used
    }
    assert not unused
