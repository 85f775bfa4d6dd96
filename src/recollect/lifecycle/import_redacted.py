"""What comes in by an import, without personal data where that is wanted.

Where nothing is redacted an import gives back what was exported, to the last character. Where it
is, an export made here holds only what was cleaned before, and comes back unchanged as well.
"""

from __future__ import annotations

import json
from dataclasses import replace

from recollect.context.archive_description import hash_of
from recollect.context.archive_summary import canonical_input
from recollect.domain.archive import Archive
from recollect.domain.audit import NewAuditEntry
from recollect.domain.proposal import Proposal
from recollect.domain.record import Version
from recollect.domain.transfer import Item, RecordHistory, name_of, scope_of
from recollect.domain.turn import Turn
from recollect.errors import InvalidInput
from recollect.writing.redaction import Counting, Redactor


def cleaned_item(item: Item, redactor: Redactor) -> tuple[Item, NewAuditEntry | None]:
    """The item as it may be kept, and how much was taken out of it.

    In mode `drop` a record that holds anything is refused; turns and archives keep their places.
    """
    if redactor.mode == "off":
        return item, None
    counting = redactor.counting()
    cleaned = _cleaned(item, counting)
    if not counting.counts:
        return item, None
    if redactor.mode == "drop" and isinstance(item, RecordHistory | Proposal):
        raise InvalidInput(
            f"{name_of(item)} holds personal data ({', '.join(sorted(counting.counts))})",
            code="personal_data",
            hint="It was left out; with writing.redact = mask it would come in without them.",
        )
    return cleaned, NewAuditEntry(
        scope=scope_of(item),
        action="redact",
        target=name_of(item),
        payload={"redacted": dict(counting.counts)},
    )


def _cleaned(item: Item, counting: Counting) -> Item:
    match item:
        case RecordHistory():
            return replace(item, versions=tuple(_version(it, counting) for it in item.versions))
        case Turn():
            return replace(
                item,
                content=counting.text(item.content),
                payload=counting.inside(dict(item.payload)),
            )
        case Archive():
            asked = _asked(item.input, counting)
            return replace(
                item,
                input=asked,
                input_hash=hash_of(asked.encode()),
                query=counting.text(item.query),
                summary=counting.text(item.summary),
                sources=counting.texts(item.sources),
            )
        case Proposal():
            return item.evolve(
                title=counting.text(item.title),
                content=counting.text(item.content),
                reason=counting.text(item.reason),
                body=counting.inside(dict(item.body)),
            )
        case _:
            return item


def _asked(written: str, counting: Counting) -> str:
    try:
        read = json.loads(written)
    except (ValueError, RecursionError):
        return counting.text(written)
    return canonical_input(counting.inside(read))


def _version(version: Version, counting: Counting) -> Version:
    return replace(
        version, record=counting.record(version.record), reason=counting.text(version.reason)
    )
