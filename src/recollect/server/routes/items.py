"""Items: what frameworks keep under a namespace and a key."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, BeforeValidator, Field

from recollect.domain.item import ItemDraft, Namespace
from recollect.domain.views import Items, Json
from recollect.errors import InvalidInput
from recollect.server.bodies import Body, described
from recollect.server.caller import CallersMemory
from recollect.server.idempotency import IdempotentRoute

router = APIRouter(prefix="/v1/items", tags=["items"], route_class=IdempotentRoute)

_PLACE: dict[str, Any] = {"namespace": ["notes", "ann"], "key": "tea"}


class ItemPlace(Body):
    """The place of an item."""

    model_config = described(_PLACE)

    namespace: list[str]
    key: str


class ItemGiven(ItemPlace):
    """An item to store."""

    model_config = described({**_PLACE, "value": {"text": "Ann drinks green tea"}, "ttl": 3600})

    value: dict[str, Any]
    ttl: float | None = Field(default=None, description="time to live in seconds")
    texts: list[str] | None = Field(
        default=None, description="texts to search; default: every text in the value"
    )
    vectors: list[list[float]] | None = Field(
        default=None, description="your own vectors, one for each text"
    )


class ItemChanges(Body):
    """Items to store and to remove, in one transaction."""

    model_config = described({"put": [{**_PLACE, "value": {"text": "green tea"}}], "removed": []})

    put: list[ItemGiven] = Field(default_factory=list[ItemGiven])
    removed: list[ItemPlace] = Field(default_factory=list[ItemPlace])


class ItemRead(ItemPlace):
    """Which item to read."""

    model_config = described(_PLACE)

    refresh: bool = Field(default=True, description="whether its time to live starts again")


class ItemSearch(Body):
    """A search for items."""

    model_config = described({"prefix": ["notes"], "query": "tea", "where": {"stars": {"$gte": 3}}})

    prefix: list[str] = Field(default_factory=list[str])
    query: str | None = None
    vector: list[float] | None = None
    where: dict[str, Any] = Field(default_factory=dict[str, Any])
    limit: int = 10
    offset: int = 0
    refresh: bool = True


class NamespaceSearch(Body):
    """Which namespaces to list; `*` matches any label."""

    model_config = described({"prefix": ["notes"], "max_depth": 2})

    prefix: list[str] = Field(default_factory=list[str])
    suffix: list[str] = Field(default_factory=list[str])
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


class NamespaceNamed(Body):
    """A namespace."""

    model_config = described({"namespace": ["notes", "ann"]})

    namespace: list[str]


class NamespaceListed(NamespaceNamed):
    """A namespace to list."""

    model_config = described({"namespace": ["notes", "ann"], "limit": 20, "last_first": True})

    limit: int | None = None
    last_first: bool = False


def _seconds(ttl: timedelta | None) -> float | None:
    return None if ttl is None else ttl.total_seconds()


class ItemTold(BaseModel):
    """One item."""

    id: str
    namespace: tuple[str, ...]
    key: str
    value: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    ttl: Annotated[float | None, BeforeValidator(_seconds)]
    position: int
    texts: tuple[str, ...]


class ItemHitTold(BaseModel):
    """An item that was found, and how well it fits; null where there is nothing to compare."""

    item: ItemTold
    score: float | None


class OneItem(BaseModel):
    """One item, null where there is none."""

    item: ItemTold | None


class ItemsRemoved(BaseModel):
    """How many items were removed."""

    removed: int


@router.post("/write", response_model=Items[ItemTold])
async def write_items(memory: CallersMemory, body: ItemChanges) -> Json:
    """Store items and remove others, in one transaction."""
    drafts = [ItemDraft(ttl=_duration(given.ttl), **given.arguments("ttl")) for given in body.put]
    removed = [(given.namespace, given.key) for given in body.removed]
    return {"items": await memory.items.write(drafts, removed)}


@router.post("/get", response_model=OneItem)
async def get_item(memory: CallersMemory, body: ItemRead) -> Json:
    """Return one item, or null."""
    return {"item": await memory.items.get(**body.arguments())}


@router.post("/search", response_model=Items[ItemHitTold])
async def search_items(memory: CallersMemory, body: ItemSearch) -> Json:
    """Return the items under a namespace, best first for a query, else in order of storage."""
    return {"items": await memory.items.search(**body.arguments())}


@router.post("/namespaces")
async def list_namespaces(memory: CallersMemory, body: NamespaceSearch) -> Items[Namespace]:
    """List the non-empty namespaces."""
    return Items(items=await memory.items.namespaces(**body.arguments()))


@router.post("/list", response_model=Items[ItemTold])
async def list_items(memory: CallersMemory, body: NamespaceListed) -> Json:
    """List the items of one namespace in order of storage."""
    return {"items": await memory.items.listed(**body.arguments())}


@router.post("/pop", response_model=OneItem)
async def pop_item(memory: CallersMemory, body: NamespaceNamed) -> Json:
    """Remove the last item of a namespace and return it."""
    return {"item": await memory.items.pop(body.namespace)}


@router.post("/clear")
async def clear_items(memory: CallersMemory, body: NamespaceNamed) -> ItemsRemoved:
    """Remove all items of one namespace."""
    return ItemsRemoved(removed=await memory.items.clear(body.namespace))


def _duration(seconds: float | None) -> timedelta | None:
    if seconds is None:
        return None
    try:
        return timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        raise InvalidInput(
            f"ttl {seconds} is not a valid time to live", code="out_of_range"
        ) from None
