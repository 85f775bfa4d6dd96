"""Items: JSON values that frameworks store under a namespace and a key.

They are separate from records: an item is found by its key or by a search of its namespace, and
never enters a prompt by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias, cast

from recollect.domain.fields import checked_items, checked_text
from recollect.domain.scope import Scope
from recollect.errors import InvalidInput

Namespace: TypeAlias = tuple[str, ...]
Place = tuple[Namespace, str]

MAX_KEY: Final = 255
MAX_NAMESPACE: Final = 400
MAX_VALUE: Final = 1_000_000
# The maximum number of indexed texts of one item.
MAX_TEXTS: Final = 50
ANY_LABEL: Final = "*"
_ESCAPES: Final = {"%": "%25", "/": "%2F"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredItem:
    """A stored item.

    `position` is its position among all items of its scope, in the order in which they were first
    put. With a `ttl` it expires that long after it was last put or, optionally, read.
    `texts` are what is searched, `vectors` their embeddings by `model`.
    """

    id: str
    scope: Scope
    namespace: Namespace
    key: str
    value: Mapping[str, Any] = field(hash=False)
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    ttl: timedelta | None = None
    position: int = 0
    texts: tuple[str, ...] = ()
    vectors: bytes = field(default=b"", repr=False)
    model: str = ""

    @property
    def place(self) -> tuple[Namespace, str]:
        return self.namespace, self.key


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDraft:
    """An item to put.

    `texts` are what is searched: None means every text in the value, an empty sequence excludes
    the item from searches. `vectors` are the caller's own, one for each text.
    """

    namespace: Sequence[str]
    key: str
    value: Mapping[str, Any]
    ttl: timedelta | None = None
    texts: Sequence[str] | None = None
    vectors: Sequence[Sequence[float]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemHit:
    """An item that was found, and its similarity to the query.

    The score is None without a query, or if the item has no texts to compare.
    """

    item: StoredItem
    score: float | None = None


def checked_namespace(namespace: Iterable[str], *, empty: bool = False) -> Namespace:
    """Return the namespace if it can be stored, otherwise raise `InvalidInput`."""
    labels = tuple(
        checked_text(label, "namespace", MAX_NAMESPACE)
        for label in checked_items(namespace, "namespace")
    )
    if not labels and not empty:
        raise InvalidInput("A namespace needs at least one label", code="missing_field")
    if len(encoded(labels)) > MAX_NAMESPACE:
        raise InvalidInput(
            f"A namespace has at most {MAX_NAMESPACE} characters in all", code="text_too_large"
        )
    return labels


def encoded(namespace: Sequence[str]) -> str:
    """Return the namespace as one text; the text of a prefix is a prefix of it."""
    return "".join(f"{_escaped(label)}/" for label in namespace)


def decoded(text: str) -> Namespace:
    """Return the namespace that was encoded as this text."""
    return tuple(
        label.replace(_ESCAPES["/"], "/").replace(_ESCAPES["%"], "%")
        for label in text.split("/")[:-1]
    )


def _escaped(label: str) -> str:
    return label.replace("%", _ESCAPES["%"]).replace("/", _ESCAPES["/"])


def begins_with(namespace: Namespace, prefix: Sequence[str]) -> bool:
    """Return whether a namespace begins with these labels; `*` matches any label."""
    return len(namespace) >= len(prefix) and _match_labels(namespace[: len(prefix)], prefix)


def ends_with(namespace: Namespace, suffix: Sequence[str]) -> bool:
    """Return whether a namespace ends with these labels; `*` matches any label."""
    last = namespace[len(namespace) - len(suffix) :]
    return len(namespace) >= len(suffix) and _match_labels(last, suffix)


def _match_labels(labels: Sequence[str], pattern: Sequence[str]) -> bool:
    return all(want in (ANY_LABEL, label) for label, want in zip(labels, pattern, strict=True))


def texts_in(value: object) -> Iterator[str]:
    """Yield every text in a JSON value, in order."""
    match value:
        case str():
            yield value
        case Mapping():
            for inner in cast("Mapping[str, object]", value).values():
                yield from texts_in(inner)
        case list() | tuple():
            for inner in cast("Sequence[object]", value):
                yield from texts_in(inner)
        case _:
            pass


def passes(value: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Return whether a value matches a filter.

    The filter gives each field a value or operators: `{"age": {"$gte": 18}}`.
    """
    return all(_matches(value.get(name), want) for name, want in wanted.items())


def _matches(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        fields = cast("Mapping[str, Any]", wanted)
        if any(name.startswith("$") for name in fields):
            return all(_operator(name)(found, operand) for name, operand in fields.items())
        return isinstance(found, Mapping) and passes(cast("Mapping[str, Any]", found), fields)
    if isinstance(wanted, list | tuple):
        several = cast("Sequence[Any]", wanted)
        return (
            isinstance(found, list | tuple)
            and len(cast("Sequence[Any]", found)) == len(several)
            and all(map(_matches, cast("Sequence[Any]", found), several))
        )
    return found == wanted


def _operator(name: str) -> Callable[[Any, Any], bool]:
    try:
        return OPERATORS[name]
    except KeyError:
        raise InvalidInput(
            f"There is no operator {name!r}",
            code="unknown_value",
            hint=f"There are: {', '.join(OPERATORS)}.",
        ) from None


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def fits(found: Any, operand: Any) -> bool:
        try:
            return found is not None and compare(found, operand)
        except TypeError:
            return False

    return fits


OPERATORS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$eq": lambda found, operand: found == operand,
    "$ne": lambda found, operand: found != operand,
    "$gt": _ordered(lambda found, operand: found > operand),
    "$gte": _ordered(lambda found, operand: found >= operand),
    "$lt": _ordered(lambda found, operand: found < operand),
    "$lte": _ordered(lambda found, operand: found <= operand),
    "$in": _ordered(lambda found, operand: found in operand),
}
