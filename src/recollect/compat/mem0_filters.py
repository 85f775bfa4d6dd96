"""mem0's conditions on metadata, decided on one memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

from recollect.domain.item import OPERATORS
from recollect.errors import InvalidInput


def matches(payload: Mapping[str, Any], conditions: Mapping[str, Any]) -> bool:
    """Return whether a memory satisfies all conditions."""
    return all(_matches(payload, name, wanted) for name, wanted in conditions.items())


def _matches(payload: Mapping[str, Any], name: str, wanted: object) -> bool:
    if name in ("AND", "OR", "NOT"):
        if not isinstance(wanted, list):
            raise InvalidInput(f"{name} takes a list of conditions", code="wrong_type")
        inner = [matches(payload, it) for it in cast("list[Mapping[str, Any]]", wanted)]
        return {"AND": all(inner), "OR": any(inner), "NOT": not any(inner)}[name]
    found = payload.get(name)
    if wanted == "*":
        return found is not None
    if isinstance(wanted, Mapping):
        operators = cast("Mapping[str, Any]", wanted)
        return all(_operator(it)(found, operand) for it, operand in operators.items())
    if isinstance(wanted, list):
        return found in cast("list[object]", wanted)
    return found == wanted


def _operator(name: str) -> Callable[[Any, Any], bool]:
    try:
        return _OPERATORS[name]
    except KeyError:
        raise InvalidInput(
            f"Unsupported metadata filter operator: {name}",
            code="unknown_value",
            hint=f"There are: {', '.join(_OPERATORS)}.",
        ) from None


_OPERATORS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    **{name.removeprefix("$"): passes for name, passes in OPERATORS.items()},
    "in": lambda found, operand: found in operand,
    "nin": lambda found, operand: found not in operand,
    "contains": lambda found, operand: str(operand) in str(found or ""),
    "icontains": lambda found, operand: str(operand).lower() in str(found or "").lower(),
}
