"""Sentences side by side: Tatoeba, captions, verses."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from xml.etree import ElementTree

_VERSE = re.compile(r'<book id="(\w+)">|<c id="(\d+)"\s*/>|<v id="(\d+)"\s*/>(.*?)<ve\s*/>', re.DOTALL)
_TAG = re.compile(r"<[^>]*>")
_NOTE = re.compile(r"<(note|f|x)\b.*?</\1>", re.DOTALL)
_OSIS = "{http://www.bibletechnologies.net/2003/OSIS/namespace}"
# OSIS and USFX name books differently: https://ebible.org/usfx and the OSIS manual, appendix C.
_BOOKS = dict(
    zip(
        "Gen Exod Lev Num Deut Josh Judg Ruth 1Sam 2Sam 1Kgs 2Kgs 1Chr 2Chr Ezra Neh Esth Job Ps"
        " Prov Eccl Song Isa Jer Lam Ezek Dan Hos Joel Amos Obad Jonah Mic Nah Hab Zeph Hag Zech"
        " Mal Matt Mark Luke John Acts Rom 1Cor 2Cor Gal Eph Phil Col 1Thess 2Thess 1Tim 2Tim"
        " Titus Phlm Heb Jas 1Pet 2Pet 1John 2John 3John Jude Rev".split(),
        "GEN EXO LEV NUM DEU JOS JDG RUT 1SA 2SA 1KI 2KI 1CH 2CH EZR NEH EST JOB PSA"
        " PRO ECC SNG ISA JER LAM EZK DAN HOS JOL AMO OBA JON MIC NAM HAB ZEP HAG ZEC"
        " MAL MAT MRK LUK JHN ACT ROM 1CO 2CO GAL EPH PHP COL 1TH 2TH 1TI 2TI"
        " TIT PHM HEB JAS 1PE 2PE 1JN 2JN 3JN JUD REV".split(),
        strict=True,
    )
)


def tatoeba(text: str) -> Iterator[tuple[str, str]]:
    """Yield Chinese and English of lines "English, Chinese, attribution"."""
    for line in text.splitlines():
        english, chinese, *_ = line.split("\t")
        yield chinese, english


def paraphrases(pairs: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the Chinese sentences that translate the same English one."""
    same: dict[str, list[str]] = defaultdict(list)
    for chinese, english in pairs:
        same[english].append(chinese)
    for group in same.values():
        yield from zip(group, group[1:], strict=False)


def lines(chinese: str, english: str) -> Iterator[tuple[str, str]]:
    yield from zip(chinese.splitlines(), english.splitlines(), strict=True)


def usfx_verses(text: str) -> dict[str, str]:
    """Return the verses of a USFX file by book, chapter and number."""
    found: dict[str, str] = {}
    book = chapter = ""
    for match in _VERSE.finditer(text):
        if match[1]:
            book = match[1]
        elif match[2]:
            chapter = match[2]
        else:
            found[f"{book} {chapter}:{match[3]}"] = _TAG.sub("", _NOTE.sub("", match[4]))
    return found


def osis_verses(text: str) -> dict[str, str]:
    """Return the verses of an OSIS file under the same names."""
    found: dict[str, list[str]] = defaultdict(list)
    current = ""

    def walk(node: ElementTree.Element) -> None:
        nonlocal current
        if node.tag == f"{_OSIS}verse":
            if (name := node.get("osisID")) and not node.get("eID"):
                book, chapter, verse = name.split(" ")[0].split(".")
                current = f"{_BOOKS.get(book, book)} {chapter}:{verse}"
            if node.get("eID"):
                current = ""
        inside = node.tag not in (f"{_OSIS}note", f"{_OSIS}title")
        if inside and node.text and current:
            found[current].append(node.text)
        if inside:
            for child in node:
                walk(child)
                if child.tail and current:
                    found[current].append(child.tail)

    walk(ElementTree.fromstring(text.encode()))
    return {name: " ".join(" ".join(parts).split()) for name, parts in found.items()}


def same_verses(chinese: dict[str, str], english: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, text in chinese.items():
        if name in english:
            yield text, english[name]
