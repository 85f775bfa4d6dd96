"""The invented lives that the judge learns from make the pairs they are meant to make."""

import random

from training.judge.lives import pairs_of_life, read_lives
from training.judge.own import DATA


def test_every_life_tells_all_of_its_attributes():
    lives = read_lives(DATA)
    assert {life["name"].split("-")[0] for life in lives} == {"lives_en", "lives_zh"}
    for life in lives:
        assert len(life["attributes"]) >= 8
        for attribute in life["attributes"]:
            counts = [len(attribute[part]) for part in ("old", "new", "alike", "again")]
            assert counts == [2, 4, 3, 1], life["name"]


def test_a_change_is_an_update_whatever_is_said_around_it():
    life = read_lives(DATA)[0]
    pairs = list(pairs_of_life(life, random.Random(1)))
    later = {text for attribute in life["attributes"] for text in attribute["new"]}
    updates = [pair for pair in pairs if pair.label == "update"]
    assert len(updates) == 12 * len(life["attributes"])
    ends = "。. "
    assert all(any(text.rstrip(ends) in pair.new for text in later) for pair in updates)
    assert {pair.label for pair in pairs} == {"same", "update", "different"}
