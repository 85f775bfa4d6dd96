from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest

from recollect.domain.copies import copy_with
from recollect.domain.fields import new_record
from recollect.domain.scope import Scope

_NOW = datetime(2026, 5, 4, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Base:
    first: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Derived(_Base):
    second: str = "b"


def test_a_copy_is_what_replacing_gives_and_leaves_the_first_alone():
    record = new_record("Ann likes tea", {"tags": ["tea"]}, Scope(user="ann"), _NOW)
    later = _NOW.replace(hour=3)
    copied = copy_with(record, recorded_at=later, tags=())
    assert copied == replace(record, recorded_at=later, tags=())
    assert copied.links == record.links
    assert (record.recorded_at, record.tags) == (_NOW, ("tea",))


def test_fields_of_a_base_class_are_copied_too():
    assert copy_with(_Derived(first=1), second="c") == _Derived(first=1, second="c")


def test_a_field_that_does_not_exist_is_refused():
    with pytest.raises(AttributeError, match="third"):
        copy_with(_Derived(first=1), third=3)
