"""Operations: each call that a server offers is declared once, where it is defined.

The Python client, the permissions and the handling of repeated requests are derived from the
declaration; tests compare it with the routes, the command line and the tools.

    @Operation("GET", "/v1/turns/{turn_id}", "get_turn", Role.READER, command="show")
    async def turn(self, turn_id: str) -> Turn: ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Final, Literal, TypeVar

from recollect.domain.scope import Role

Reach = Literal["scope", "server"]
# What a second request with the same content does: read again, have the first answer under the
# same key, do the same again without harm, or answer with a secret, which is never kept.
Repeat = Literal["read", "once", "repeatable", "secret"]
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Operation:
    """One call that a server offers; it decorates the method or the route that implements it.

    The signature of the method is the contract: what is not part of the path is sent in the body,
    or in the query of a GET and a DELETE.
    """

    method: str
    path: str
    # The operation id, which is the name of the route's function.
    name: str
    # The lowest role that may call it; None if whoever reaches the server may.
    role: Role | None
    _: KW_ONLY
    # "server" needs a key that is not bound to users, agents or workspaces.
    reach: Reach = "scope"
    repeat: Repeat = "once"
    # Whether the server gives up after `server.recall_timeout`.
    timed: bool = False

    # How the client calls it: without a time limit, page after page.
    patient: bool = False
    pages: bool = False
    # Parameters by the name they have on the wire, and those of a body that stand in the query.
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    in_query: tuple[str, ...] = ()
    # The member of the answer that is the result; a tuple is in `items`.
    answer: str | None = None

    # The other faces that have it.
    command: str | None = None
    tool: str | None = None

    @property
    def is_read(self) -> bool:
        """Return whether it changes nothing that lasts."""
        return self.method == "GET" or self.repeat == "read"

    @property
    def takes_key(self) -> bool:
        """Return whether a request may carry an idempotency key."""
        return not self.is_read and self.repeat != "secret"

    def __call__(self, function: Function) -> Function:
        """Declare that a method or the function of a route implements this operation."""
        if OPERATIONS.setdefault(self.name, self) != self:
            raise ValueError(f"the operation {self.name} is declared twice")
        setattr(function, _ATTRIBUTE, self)
        return function


_ATTRIBUTE: Final = "__operation__"
# Filled by the modules that declare them.
OPERATIONS: Final[dict[str, Operation]] = {}


def operation_of(function: object) -> Operation | None:
    """Return the operation that a method or the function of a route implements."""
    return getattr(function, _ATTRIBUTE, None)
