"""Conflicts, watermarks and proposals as lines of an export."""

from __future__ import annotations

from dataclasses import fields
from typing import Final, cast, get_args

from recollect.domain.conflict import Conflict, Resolution
from recollect.domain.fields import (
    MAX_CONTENT,
    MAX_LABEL,
    MAX_METADATA,
    MAX_TITLE,
    checked_json,
    checked_share,
    checked_text,
)
from recollect.domain.proposal import PROPOSAL_STATUSES, Proposal, ProposalStatus
from recollect.domain.transfer import ReadMark
from recollect.errors import InvalidInput
from recollect.lifecycle.export_values import (
    Json,
    count_in,
    form_of,
    id_in,
    optional_time_in,
    scope_in,
    time_in,
    with_fields,
    word_in,
)

_CONFLICT: Final = tuple(field.name for field in fields(Conflict))
# A line's own type has that name.
_TYPE: Final = "shared_type"
_PROPOSAL: Final = (_TYPE, *(field.name for field in fields(Proposal) if field.name != "type"))
_READ_MARK: Final = tuple(field.name for field in fields(ReadMark))
_RESOLUTIONS: Final[tuple[str, ...]] = get_args(Resolution)


def read_conflict(given: Json) -> Conflict:
    form = with_fields(given, "conflict", _CONFLICT)
    resolution = form["resolution"]
    if resolution is not None:
        resolution = cast("Resolution", word_in(form, "resolution", _RESOLUTIONS))
    return Conflict(
        id=id_in(form, "conflict"),
        scope=scope_in(form),
        first=id_in(form, "mem", "ep", "proc", name="first"),
        second=id_in(form, "mem", "ep", "proc", name="second"),
        reason=_text(form, "reason"),
        created_at=time_in(form, "created_at"),
        resolved_at=optional_time_in(form, "resolved_at"),
        resolved_by=_optional_label(form, "resolved_by"),
        resolution=resolution,
    )


def read_mark(given: Json) -> ReadMark:
    form = with_fields(given, "watermark", _READ_MARK)
    return ReadMark(
        scope=scope_in(form),
        session=_label(form, "session"),
        ordinal=count_in(form, "ordinal", 1),
        turn=id_in(form, "turn", name="turn"),
    )


def proposal_form(proposal: Proposal) -> Json:
    form = form_of(proposal)
    return {_TYPE: form.pop("type"), **form}


def read_proposal(given: Json) -> Proposal:
    form = with_fields(given, "proposal", _PROPOSAL)
    body = form["body"]
    if not isinstance(body, dict):
        raise InvalidInput("body is not an object", code="wrong_type")
    return Proposal(
        id=id_in(form, "prop"),
        scope=scope_in(form),
        type=_label(form, _TYPE),
        proposer=_label(form, "proposer"),
        role=_label(form, "role"),
        user=_optional_label(form, "user"),
        status=cast("ProposalStatus", word_in(form, "status", PROPOSAL_STATUSES)),
        title=checked_text(form["title"], "title", MAX_TITLE, blank=True),
        content=checked_text(form["content"], "content", MAX_CONTENT),
        reason=_text(form, "reason"),
        confidence=checked_share(form["confidence"], "confidence"),
        created_at=time_in(form, "created_at"),
        expires_at=optional_time_in(form, "expires_at"),
        target=_optional_record(form, "target"),
        record=_optional_record(form, "record"),
        decided_at=optional_time_in(form, "decided_at"),
        decided_by=_optional_label(form, "decided_by"),
        decision=_text(form, "decision"),
        body=checked_json(cast("Json", body), "body", MAX_METADATA),
    )


def _text(form: Json, name: str) -> str:
    return checked_text(form[name], name, MAX_CONTENT, blank=True)


def _label(form: Json, name: str) -> str:
    return checked_text(form[name], name, MAX_LABEL)


def _optional_label(form: Json, name: str) -> str | None:
    return None if form[name] is None else checked_text(form[name], name, MAX_LABEL, blank=True)


def _optional_record(form: Json, name: str) -> str | None:
    return None if form[name] is None else id_in(form, "mem", "ep", "proc", name=name)
