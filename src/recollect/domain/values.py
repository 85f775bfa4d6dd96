"""Dataclasses whose methods are compiled when one of them is first called.

The standard decorator writes up to six methods as text and compiles each of them, for every class
that is imported: a fifth of the time of a short command, which makes few of these objects.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any, Final, cast

_LATER: Final = "is_compiled_later"

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        cls: Any = None, /, *, frozen: bool = False, slots: bool = False, kw_only: bool = False
    ) -> Any:
        """Make a class a dataclass, as `dataclasses.dataclass` does."""

        def made(cls: Any) -> Any:
            is_derived = dataclasses.is_dataclass(cls)
            # A frozen class may only be derived from a frozen one.
            cls = dataclasses.dataclass(
                cls,
                init=False,
                repr=False,
                eq=False,
                frozen=frozen and is_derived,
                slots=slots,
                kw_only=kw_only,
            )
            if frozen and not is_derived:
                _freeze(cls)
            for name in _missing(cls, has_hash=frozen):
                setattr(cls, name, _compiled_later(cls, name))
            return cls

        return made if cls is None else made(cls)


def _freeze(cls: Any) -> None:
    cls.__dataclass_params__.frozen = True
    cls.__setattr__, cls.__delattr__, cls.__setstate__ = _set, _delete, _put_state


def _set(self: Any, name: str, value: object) -> None:
    if _is_fixed(self, name):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _delete(self: Any, name: str) -> None:
    if _is_fixed(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _is_fixed(value: Any, name: str) -> bool:
    """Return whether an attribute is a field, or of a class that has nothing but fields."""
    return name in value.__dataclass_fields__ or "__dataclass_fields__" in _own(type(value))


def _put_state(self: Any, state: Any) -> None:
    """Fill a copy, or what was pickled."""
    # A class with slots gives two: what is in its dictionary, and what is in its slots.
    parts = cast("tuple[dict[str, Any] | None, ...]", state if type(state) is tuple else (state,))
    for part in parts:
        for name, value in (part or {}).items():
            object.__setattr__(self, name, value)


def _own(cls: Any) -> Mapping[str, Any]:
    """Return what a class defines itself."""
    return cls.__dict__


def _missing(cls: Any, *, has_hash: bool) -> list[str]:
    """Return the methods that the class does not define itself."""
    own = _own(cls)
    names = [name for name in ("__init__", "__repr__", "__eq__") if name not in own]
    if has_hash and own.get("__hash__") is None:
        names.append("__hash__")
    elif "__hash__" not in own:
        # What can be changed and is compared by its fields has no lasting hash.
        cls.__hash__ = None
    return names


def _compiled_later(cls: Any, name: str) -> Any:
    def method(self: Any, /, *args: Any, **given: Any) -> Any:
        _compile(cls)
        return _own(cls)[name](self, *args, **given)

    method.__name__ = name
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    setattr(method, _LATER, True)
    return method


def _compile(cls: Any) -> None:
    """Replace the methods by those that the standard decorator compiles for the same fields."""
    twin = dataclasses.make_dataclass(
        cls.__name__,
        [(field.name, field.type, field) for field in dataclasses.fields(cls)],
        namespace={"__doc__": cls.__doc__ or cls.__name__}
        | ({"__post_init__": None} if hasattr(cls, "__post_init__") else {}),
        frozen=cls.__dataclass_params__.frozen,
    )
    for name, method in vars(twin).items():
        if hasattr(_own(cls).get(name), _LATER):
            setattr(cls, name, method)
