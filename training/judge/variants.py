"""Pairs made from hand-written groups, cards and single pairs.

A group has statements A that say the same, U and V that update them, C that contradict them
without saying that something changed, and D that are true beside them. A card lists attributes of
a subject, each with two English and two Chinese sentences. Openings, cues of change and temporary
frames are put around statements of every label, so that no such phrase gives the label away.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from training.judge.slots import Slots, Values, exchanged, is_chinese, read_table

Label = Literal["same", "update", "conflict", "different"]
LABELS: tuple[Label, ...] = ("same", "update", "conflict", "different")
Frame = Literal["cue", "temporary", "opening"]

_LETTERS: dict[str, Label] = {"s": "same", "u": "update", "c": "conflict", "d": "different"}
_OFTEN_ASKED_CARDS = ("svc", "person")
_FIRST_WORD = re.compile(r"[A-Za-z]+")


@dataclass(frozen=True, slots=True)
class Pair:
    label: Label
    old: str
    new: str
    weight: float = 1.0
    source: str = ""

    @property
    def language(self) -> str:
        return language(self.old, self.new)

    def turned(self, weight: float = 1.0) -> Pair:
        return replace(self, old=self.new, new=self.old, weight=self.weight * weight)


def language(old: str, new: str) -> str:
    sides = {is_chinese(old), is_chinese(new)}
    return "cross" if len(sides) == 2 else "zh" if True in sides else "en"


@dataclass(slots=True)
class Group:
    name: str
    value: str = ""
    """The slot that an update changes, where there is one."""
    subject: str = ""
    several: bool = False
    """Whether two values can be true at the same time."""
    lines: dict[str, list[str]] = field(default_factory=lambda: {it: [] for it in "AUVCD"})


@dataclass(frozen=True, slots=True)
class Attribute:
    name: str
    kind: str
    english: list[str]
    chinese: list[str]
    note: str = ""


def read_groups(folder: Path) -> list[Group]:
    groups = list[Group]()
    for file in sorted(folder.glob("g*.txt")):
        for line in file.read_text("utf-8").splitlines():
            if line.startswith("@"):
                about = dict(part.split("=") for part in line[1:].split())
                name = f"{file.stem}-{len(groups)}"
                several = "multi" in about
                groups.append(
                    Group(name, about.get("value", ""), about.get("subject", ""), several)
                )
            elif line:
                groups[-1].lines[line[0]].append(line[2:])
    return groups


def read_pairs(folder: Path) -> list[Pair]:
    pairs = list[Pair]()
    for file in sorted(folder.glob("p*.txt")):
        for number, line in enumerate(file.read_text("utf-8").splitlines()):
            if line.strip():
                letter, old, new = line.split("|")
                pairs.append(Pair(_LETTERS[letter], old, new, source=f"{file.stem}-{number}"))
    return pairs


def read_cards(file: Path) -> dict[str, list[Attribute]]:
    notes = {(card, name): note for card, name, note in read_table("attributes.tsv")}
    cards, card = dict[str, list[Attribute]](), ""
    for line in file.read_text("utf-8").splitlines():
        if line.startswith("%"):
            card = line[2:]
            cards[card] = []
        elif line:
            about, *texts = line.split("|")
            name, kind = about.split(":")
            note = notes.get((card, name), "")
            cards[card].append(Attribute(name, kind, texts[:2], texts[2:], note))
    return cards


class Phrasing:
    """Puts frames around statements, and varies how they are written."""

    def __init__(self, draw: random.Random, texts: Iterable[str]) -> None:
        self.draw = draw
        self.frames = defaultdict[tuple[str, bool], list[str]](list)
        for kind, tongue, frame in read_table("wrappers.tsv"):
            self.frames[kind, tongue == "zh"].append(frame)
        self.user_forms = [(re.compile(it[0]), it[1]) for it in read_table("user_forms.tsv")]
        # A word that is written small inside of sentences is no name.
        self.small = {word for text in texts for word in re.findall(r"(?<=\s)[a-z]+\b", text)}

    def framed(self, kind: Frame, text: str) -> str:
        frame = self.draw.choice(self.frames[kind, is_chinese(text)])
        return frame.replace("{l}", self._small_first(text)).replace("{}", text)

    def framed_alike(self, pair: Pair) -> Pair:
        """Return the pair with one temporary frame around both: its label stays."""
        place = self.draw.randrange(len(self.frames["temporary", True]))

        def put(text: str) -> str:
            frame = self.frames["temporary", is_chinese(text)][place]
            return frame.replace("{l}", self._small_first(text)).replace("{}", text)

        return replace(pair, old=put(pair.old), new=put(pair.new), weight=0.7 * pair.weight)

    def varied(self, text: str) -> str:
        """Return the statement with an opening, other letters, another end or another person."""
        if self.draw.random() < 0.12:
            text = self.framed("opening", text)
        if self.draw.random() < 0.12 and not is_chinese(text):
            text = text.lower()
        chance = self.draw.random()
        if chance < 0.25:
            text = text.rstrip(".。") + ("。" if is_chinese(text) else ".")
        elif chance < 0.4:
            text = text.rstrip(".。")
        if self.draw.random() < 0.12:
            for pattern, other in self.user_forms:
                text = pattern.sub(other, text)
        return text

    def vary(self, pair: Pair) -> Pair:
        return replace(pair, old=self.varied(pair.old), new=self.varied(pair.new))

    def _small_first(self, text: str) -> str:
        word = _FIRST_WORD.match(text)
        return text[0].lower() + text[1:] if word and word[0].lower() in self.small else text


class Variants:
    """Makes pairs of the groups, the cards and the single pairs."""

    def __init__(self, draw: random.Random, slots: Slots, phrasing: Phrasing) -> None:
        self.draw, self.slots, self.phrasing = draw, slots, phrasing

    def of_group(self, group: Group, values: Values, across: float = 0.2) -> list[Pair]:
        """Return the pairs that a group says itself, a share of those across languages."""
        said = {
            part: [self.slots.fill(line, values) for line in lines]
            for part, lines in group.lines.items()
        }
        found = list[Pair]()

        def add(label: Label, first: str, second: str, weight: float, both: bool = False) -> None:
            for old, new in itertools.product(said[first], said[second]):
                if old != new:
                    found.append(Pair(label, old, new, weight, group.name))
                    if both:
                        found.append(Pair(label, new, old, weight, group.name))

        add("same", "A", "A", 1.0)
        add("same", "U", "U", 0.7)
        add("update", "A", "U", 1.0)
        add("update", "A", "V", 1.0)
        add("conflict", "A", "C", 1.0, both=True)
        add("different", "A", "D", 1.0, both=True)
        add("different", "U", "D", 0.5)
        # The older statement told again after the change is not known to be newer.
        add("conflict", "U", "A", 0.4)
        return [it for it in found if it.language != "cross" or self.draw.random() < across]

    def around_group(self, group: Group, values: Values) -> list[Pair]:
        """Return pairs with frames, with the value changed, or with another subject."""
        if group.value:
            return self._around_slots(group, values)
        choose, framed = self.draw.choice, self.phrasing.framed
        first = [self.slots.fill(line, values) for line in group.lines["A"]]
        against = [self.slots.fill(line, values) for line in group.lines["C"]]
        found = list[Pair]()
        for _ in range(2):
            one = choose(first)
            alike = self._like(one, [it for it in first if it != one])
            found.append(Pair("same", one, framed("opening", alike or one)))
            found.append(Pair("same", one, framed("cue", alike or one), 0.5))
            if against:
                other = self._like(one, against) or choose(against)
                found.append(Pair("update", one, framed("cue", other)))
                found.append(Pair("conflict", one, framed("opening", other)))
                found.append(Pair("different", one, framed("temporary", other), 0.8))
                found.append(Pair("different", other, framed("temporary", one), 0.5))
        return [replace(it, source=group.name) for it in found]

    def _around_slots(self, group: Group, values: Values) -> list[Pair]:
        choose, framed, fill = self.draw.choice, self.phrasing.framed, self.slots.fill
        kind, subject = group.value[:-1], group.subject[:-1]
        changed = exchanged(values, group.value, f"{kind}{'2' if group.value[-1] == '1' else '3'}")
        another = f"{subject}{'3' if kind == subject else '2'}"
        elsewhere = [exchanged(values, group.subject, another)]
        if kind != subject:
            elsewhere.append(exchanged(changed, group.subject, another))
        first = [fill(line, values) for line in group.lines["A"]]
        second = [fill(line, changed) for line in group.lines["A"]]
        anything = [line for part in "AUVC" for line in group.lines[part]]
        found = list[Pair]()
        for _ in range(3):
            one = choose(first)
            alike = self._like(one, [it for it in first if it != one]) or one
            other = self._like(one, second) or choose(second)
            strange = fill(choose(anything), choose(elsewhere))
            found.append(Pair("different" if group.several else "conflict", one, other))
            if not group.several:
                found.append(Pair("update", one, framed("cue", other)))
                found.append(self.phrasing.framed_alike(Pair("conflict", one, other)))
            found += [
                self.phrasing.framed_alike(Pair("same", one, alike)),
                Pair("same", one, alike),
                Pair("same", framed(choose(("cue", "opening")), one), alike, 0.6),
                Pair("same", one, framed("cue", alike), 0.5),
                Pair("different", one, framed("temporary", other), 0.8),
                Pair("different", one, strange),
                Pair("different", one, framed("cue", strange), 0.8),
            ]
        return [replace(it, source=group.name) for it in found if it.old != it.new]

    def unrelated(self, group: Group, others: list[Group], values: Values) -> Pair:
        """Return statements of two groups, which hardly ever have to do with each other."""

        def line(of: Group) -> str:
            return self.slots.fill(self.draw.choice([*of.lines["A"], *of.lines["U"]]), values)

        other = self.draw.choice([it for it in others if it is not group])
        return Pair("different", line(group), line(other), 0.6, "unrelated")

    def of_pair(self, pair: Pair) -> list[Pair]:
        """Return a hand-written pair, turned and framed where its label allows that."""
        chance, framed = self.draw.random, self.phrasing.framed
        found = [pair]
        if pair.label in ("same", "conflict") and chance() < 0.7:
            found.append(pair.turned())
        if pair.label == "different" and chance() < 0.5:
            found.append(pair.turned(0.7))
        if pair.label == "different" and chance() < 0.2:
            found.append(replace(pair, new=framed("cue", pair.new), weight=0.8))
        if pair.label == "conflict" and chance() < 0.4:
            found.append(replace(pair, label="update", new=framed("cue", pair.new)))
        if pair.label == "conflict" and chance() < 0.3:
            new = framed("temporary", pair.new)
            found.append(replace(pair, label="different", new=new, weight=0.8))
        if pair.label == "same" and chance() < 0.3:
            found.append(replace(pair, new=framed("cue", pair.new), weight=0.5))
        if pair.label in ("same", "conflict") and chance() < 0.15:
            found.append(self.phrasing.framed_alike(pair))
        if chance() < 0.15:
            found.append(replace(pair, label="same", new=pair.old, weight=0.5))
        return found

    def of_card(self, card: str, attributes: list[Attribute], count: int) -> list[Pair]:
        """Return pairs about one subject or two, one attribute or two."""
        allowed = [it for it in attributes if it.note != "held"]
        makers: tuple[tuple[float, Callable[..., Pair | None]], ...] = (
            (0.20, self._card_same),
            (0.18, self._card_change),
            (0.18, self._card_update),
            (0.07, self._card_temporary),
            (0.12, self._card_other_subject),
            (0.25, self._card_other_attribute),
        )
        weights, functions = zip(*makers, strict=True)
        found = list[Pair]()
        while len(found) < count:
            make = self.draw.choices(functions, weights)[0]
            attribute = self.draw.choice(allowed)
            chinese = self.draw.random() < 0.5
            other = chinese if self.draw.random() < 0.82 else not chinese
            said = _CardText(self, card, self.slots.values(), chinese, other)
            pair = make(said, attribute, allowed)
            if pair is not None and pair.old != pair.new:
                found.append(replace(pair, weight=0.8, source=f"card-{card}"))
        return found

    def _card_same(self, said: _CardText, it: Attribute, _: list[Attribute]) -> Pair:
        new = said.new(it)
        if new == said.old(it) or self.draw.random() < 0.3:
            new = self.phrasing.framed(self.draw.choice(("opening", "opening", "cue")), new)
        return Pair("same", said.old(it), new)

    def _card_change(self, said: _CardText, it: Attribute, _: list[Attribute]) -> Pair | None:
        return None if it.note else Pair("conflict", said.old(it), said.new(it, other=True))

    def _card_update(self, said: _CardText, it: Attribute, _: list[Attribute]) -> Pair | None:
        if it.note == "open":
            return None
        new = self.phrasing.framed("cue", said.new(it, other=True))
        return Pair("update", said.old(it), new)

    def _card_temporary(self, said: _CardText, it: Attribute, _: list[Attribute]) -> Pair:
        new = self.phrasing.framed("temporary", said.new(it, other=True))
        return Pair("different", said.old(it), new)

    def _card_other_subject(self, said: _CardText, it: Attribute, _: list[Attribute]) -> Pair:
        old = said.old(it)
        said.change_subject(it)
        return Pair("different", old, self._sometimes_cued(said.new(it, self.draw.random() < 0.5)))

    def _card_other_attribute(self, said: _CardText, it: Attribute, all: list[Attribute]) -> Pair:
        others = [one for one in all if one.name != it.name]
        near = [one for one in others if one.kind == it.kind]
        chosen = self.draw.choice(near if near and self.draw.random() < 0.65 else others)
        new = said.new(chosen, self.draw.random() < 0.5)
        return Pair("different", said.old(it), self._sometimes_cued(new))

    def _sometimes_cued(self, text: str) -> str:
        return self.phrasing.framed("cue", text) if self.draw.random() < 0.35 else text

    def _like(self, text: str, others: list[str]) -> str:
        """Return one of the others, mostly in the text's language; nothing where there is none."""
        near = [it for it in others if is_chinese(it) == is_chinese(text)]
        fitting = near if near and self.draw.random() < 0.8 else others
        return self.draw.choice(fitting) if fitting else ""


class _CardText:
    """The sentences of a card's attributes for one drawing of values."""

    def __init__(
        self, variants: Variants, card: str, values: Values, old_chinese: bool, new_chinese: bool
    ) -> None:
        self.variants, self.card, self.values = variants, card, values
        self.old_chinese, self.new_chinese = old_chinese, new_chinese
        self.kept = dict[str, str]()

    def old(self, it: Attribute) -> str:
        if it.name not in self.kept:
            self.kept[it.name] = self._text(it, self.old_chinese, other=False)
        return self.kept[it.name]

    def new(self, it: Attribute, other: bool = False) -> str:
        return self._text(it, self.new_chinese, other)

    def change_subject(self, it: Attribute) -> None:
        another = "3" if it.kind == self.card else "2"
        self.values = exchanged(self.values, f"{self.card}1", f"{self.card}{another}")

    def _text(self, it: Attribute, chinese: bool, other: bool) -> str:
        number = 1 + (it.kind == self.card) + other
        template = self.variants.draw.choice(it.chinese if chinese else it.english)
        template = template.replace("{s}", f"{{{self.card}1}}")
        template = template.replace("{x}", f"{{{it.kind}{number}}}")
        return self.variants.slots.fill(template, self.values)
