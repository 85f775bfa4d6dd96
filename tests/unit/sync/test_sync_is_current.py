"""The blocking twins are generated; these tests fail when they no longer match."""

import inspect

import pytest

import recollect
import recollect.sync
from recollect.context.session import Session
from tools.generate_sync import (
    SESSION_TARGET,
    SOURCE,
    TARGET,
    VIEW_TARGET,
    generated,
    generated_sessions,
    generated_views,
)


def test_the_generated_file_is_current():
    expected = generated(SOURCE.read_text(encoding="utf-8"))

    assert TARGET.read_text(encoding="utf-8") == expected, (
        "recollect/sync/memory.py is stale: run .venv/bin/python tools/generate_sync.py"
    )


def test_the_generated_sessions_are_current():
    assert SESSION_TARGET.read_text(encoding="utf-8") == generated_sessions(), (
        "recollect/sync/session.py is stale: run .venv/bin/python tools/generate_sync.py"
    )


def test_the_generated_views_are_current():
    assert VIEW_TARGET.read_text(encoding="utf-8") == generated_views(), (
        "recollect/sync/views.py is stale: run .venv/bin/python tools/generate_sync.py"
    )


def test_a_new_method_appears_in_the_blocking_memory():
    source = SOURCE.read_text(encoding="utf-8").replace(
        "    async def drain(self)",
        "    async def count(self, *words: str, exact: bool = False) -> int:\n"
        '        """How often."""\n'
        "        return 1\n\n"
        "    async def drain(self)",
    )

    made = generated(source)

    assert "    def count(self, *words: str, exact: bool = False) -> int:\n" in made
    assert "return self._loop.run(lambda: self._memory.count(*words, exact=exact))" in made


def test_a_method_of_an_unknown_shape_is_refused_and_named():
    source = SOURCE.read_text(encoding="utf-8").replace(
        "    async def drain(self)",
        "    def stream(self) -> Stream:\n        ...\n\n    async def drain(self)",
    )

    with pytest.raises(SystemExit, match="no blocking form is known for stream"):
        generated(source)


def public(memory):
    """What is public of a class, its bases included."""
    classes = reversed(memory.__mro__[:-1])
    members = {name: it for each in classes for name, it in vars(each).items()}
    return {name: it for name, it in members.items() if not name.startswith("_")}


def test_both_memories_have_the_same_public_names():
    assert public(recollect.sync.Memory).keys() == public(recollect.Memory).keys()


def test_both_sessions_have_the_same_public_names():
    assert public(recollect.sync.Session).keys() == public(Session).keys()


@pytest.mark.parametrize("name", sorted(public(recollect.Memory)))
def test_parameters_and_words_are_the_same(name):
    theirs = public(recollect.Memory)[name]
    ours = public(recollect.sync.Memory)[name]
    if isinstance(theirs, property):
        theirs, ours = theirs.fget, ours.fget
    if isinstance(theirs, classmethod):
        theirs, ours = theirs.__func__, ours.__func__

    assert inspect.signature(ours).parameters == inspect.signature(theirs).parameters
    assert not inspect.iscoroutinefunction(ours)
    if name != "open":
        assert ours.__doc__ == theirs.__doc__
        assert inspect.signature(ours).return_annotation == (
            inspect.signature(theirs).return_annotation
        )
