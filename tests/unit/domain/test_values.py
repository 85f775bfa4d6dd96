"""Dataclasses whose methods are compiled when they are first called."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, field, replace
from typing import Any, ClassVar, cast

import pytest

from recollect.domain import values
from recollect.domain.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cat:
    """A cat."""

    name: str
    lives: int = 9
    toys: tuple[str, ...] = field(default=(), repr=False)
    kind: ClassVar[str] = "cat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kitten(Cat):
    """A young one."""

    days: int = 0

    def __post_init__(self) -> None:
        if self.days < 0:
            raise ValueError("not born yet")


@dataclass(slots=True)
class Bowl:
    """What can be filled."""

    food: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Named:
    """One with a form of its own."""

    name: str

    def __repr__(self) -> str:
        return self.name


def is_compiled(kind: type[Any], name: str) -> bool:
    return not hasattr(vars(kind)[name], "is_compiled_later")


def test_a_class_that_nobody_uses_compiles_nothing():
    made: list[str] = []

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Dog:
        """A dog."""

        name: str

    names = ("__init__", "__repr__", "__eq__", "__hash__")
    assert not any(is_compiled(Dog, name) for name in names)
    made.append(repr(Dog(name="Rex")))
    assert all(is_compiled(Dog, name) for name in names)
    assert made[0].endswith("Dog(name='Rex')")


def test_it_behaves_as_the_standard_one_does():
    tom = Cat(name="Tom")
    assert tom == Cat(name="Tom", lives=9)
    assert tom != Cat(name="Tim")
    assert len({tom, Cat(name="Tom")}) == 1
    assert repr(tom) == "Cat(name='Tom', lives=9)"
    assert replace(tom, lives=8).lives == 8
    assert [it.name for it in dataclasses.fields(tom)] == ["name", "lives", "toys"]
    with pytest.raises(TypeError, match="name"):
        cast("Any", Cat)()
    with pytest.raises(TypeError):
        cast("Any", Cat)("Tom")


def test_what_is_frozen_stays_as_it_is():
    tom = Cat(name="Tom")
    with pytest.raises(FrozenInstanceError):
        tom.name = "Tim"  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(FrozenInstanceError):
        del tom.name  # pyright: ignore[reportAttributeAccessIssue]
    assert tom.name == "Tom"


def test_copies_and_pickles_are_equal():
    kitten = Kitten(name="Kit", toys=("mouse",), days=3)
    assert copy.copy(kitten) == copy.deepcopy(kitten) == kitten
    assert pickle.loads(pickle.dumps(kitten)) == kitten


def test_one_that_is_derived_has_all_fields_and_its_own_check():
    assert Kitten(name="Kit", days=3).lives == 9
    assert Kitten(name="Kit") != Cat(name="Kit")
    with pytest.raises(ValueError, match="not born"):
        Kitten(name="Kit", days=-1)


def test_what_can_change_has_no_hash_and_lists_of_its_own():
    first, second = Bowl(), Bowl()
    first.food.append("fish")
    assert second.food == []
    assert first != second
    with pytest.raises(TypeError, match="unhashable"):
        hash(first)


def test_methods_of_the_class_itself_stay():
    assert repr(Named("Tom")) == "Tom"


def test_the_standard_decorator_can_go_on_from_it():
    @dataclasses.dataclass(frozen=True, kw_only=True)
    class Lion(Cat):
        """A large one."""

        mane: bool = True

    assert Lion(name="Leo") == Lion(name="Leo", mane=True, lives=9)


def test_type_checkers_see_the_standard_one():
    assert "from dataclasses import dataclass as dataclass" in inspect.getsource(values)
