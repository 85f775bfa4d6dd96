"""Terms of text that puts no spaces between words: characters and neighbouring pairs.

Pairs carry most of the meaning; single characters let a one-character word (猫) be found inside a
sentence and raise the ranking of longer ones.
"""

from itertools import product
from operator import add

from recollect.text.stopwords import CHINESE

_STOP_PAIRS = frozenset(map("".join, product(CHINESE, repeat=2)))


def run_terms(run: str, *, keep_stop_words: bool) -> list[str]:
    """Every character of the run and every pair of neighbours, without stop words unless kept."""
    pairs = map(add, run, run[1:])
    if keep_stop_words:
        return [*run, *pairs]
    found = [character for character in run if character not in CHINESE]
    found += [pair for pair in pairs if pair not in _STOP_PAIRS]
    return found
