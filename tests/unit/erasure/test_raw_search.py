"""One pass finds what a search for each pattern would find."""

from random import Random

from recollect.backends.sql.schema import metadata
from recollect.erasure.proof import PLACES
from recollect.erasure.raw_search import ManyPatterns


def test_it_finds_the_same_as_a_search_for_each():
    random = Random(1)
    for _ in range(200):
        letters = random.choice([b"ab", b"abcdef", bytes(range(256))])
        text = bytes(random.choices(letters, k=random.randint(0, 400)))
        parts = (random.randint(0, max(len(text) - 1, 0)) for _ in range(20))
        patterns = {text[at : at + random.randint(1, 30)] for at in parts} - {b""}
        patterns |= {bytes(random.choices(letters, k=random.randint(1, 12))) for _ in range(20)}
        expected = {it: text.find(it) for it in patterns if it in text}
        assert ManyPatterns(patterns).find(text) == expected


def test_words_of_both_languages_in_every_spelling():
    text = "Ann keeps 翡翠茶壶 in the zorblaxian cellar"
    wanted = [it.encode(form) for it in ("翡翠茶", "zorblaxian") for form in ("utf-8", "utf-16-le")]
    both = text.encode() + text.encode("utf-16-le")
    assert ManyPatterns(wanted).find(both) == {it: both.find(it) for it in wanted}
    assert ManyPatterns([]).find(both) == {}


def test_every_store_has_a_name_that_people_know():
    assert set(metadata.tables) | {"unit_tokens"} == set(PLACES)
