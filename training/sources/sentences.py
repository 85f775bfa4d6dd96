"""Sentences side by side: Tatoeba, captions, verses."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from xml.etree import ElementTree

_VERSE = re.compile(
    r'<book id="(\w+)">|<c id="(\d+)"\s*/>|<v id="(\d+)"\s*/>(.*?)<ve\s*/>', re.DOTALL
)
_TAG = re.compile(r"<[^>]*>")
_NOTE = re.compile(r"<(note|f|x)\b.*?</\1>", re.DOTALL)
_OSIS = "{http://www.bibletechnologies.net/2003/OSIS/namespace}"
# How OSIS names a book, and how USFX does.
_NAMES = """
Gen=GEN Exod=EXO Lev=LEV Num=NUM Deut=DEU Josh=JOS Judg=JDG Ruth=RUT 1Sam=1SA 2Sam=2SA
1Kgs=1KI 2Kgs=2KI 1Chr=1CH 2Chr=2CH Ezra=EZR Neh=NEH Esth=EST Job=JOB Ps=PSA Prov=PRO
Eccl=ECC Song=SNG Isa=ISA Jer=JER Lam=LAM Ezek=EZK Dan=DAN Hos=HOS Joel=JOL Amos=AMO
Obad=OBA Jonah=JON Mic=MIC Nah=NAM Hab=HAB Zeph=ZEP Hag=HAG Zech=ZEC Mal=MAL Matt=MAT
Mark=MRK Luke=LUK John=JHN Acts=ACT Rom=ROM 1Cor=1CO 2Cor=2CO Gal=GAL Eph=EPH Phil=PHP
Col=COL 1Thess=1TH 2Thess=2TH 1Tim=1TI 2Tim=2TI Titus=TIT Phlm=PHM Heb=HEB Jas=JAS 1Pet=1PE
2Pet=2PE 1John=1JN 2John=2JN 3John=3JN Jude=JUD Rev=REV
"""
_BOOKS: dict[str, str] = {
    name: it for name, _, it in (one.partition("=") for one in _NAMES.split())
}


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
        yield from pairwise(group)


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
