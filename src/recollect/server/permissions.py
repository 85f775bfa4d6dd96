"""What each operation needs: the one place where roles meet routes.

An operation that is not listed here is closed to everybody but an administrator of the whole
server; a test holds that none is forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast

from fastapi import Request
from fastapi.routing import APIRoute

from recollect.domain.scope import Role
from recollect.server.identity import Identity, identify
from recollect.server.limits import Limits

Reach = Literal["scope", "server"]


@dataclass(frozen=True, slots=True)
class Permission:
    """The lowest role that may call an operation, and whether it concerns everybody's memory."""

    role: Role
    reach: Reach = "scope"


# Whoever reaches the server may call these.
PUBLIC: Final = frozenset({"server_health", "sign_in", "sign_out"})

_BY_PERMISSION: Final[Mapping[Permission, tuple[str, ...]]] = {
    Permission(Role.READER): (
        "get_item",
        "search_items",
        "list_namespaces",
        "list_items",
        "get_record",
        "list_records",
        "record_history",
        "recall",
        "make_context",
        "get_profile",
        "replay_recall",
        "route_message",
        "list_turns",
        "get_turn",
        "get_trace",
        "get_user_names",
        "list_sessions",
        "list_tags",
        "list_categories",
        "list_facets",
        "list_changes",
        "stream_events",
        "session_status",
        "session_summaries",
        "expand_summary",
        "session_offers",
        "session_notes",
        "get_scratchpad",
        "list_archives",
        "list_documents",
        "get_document",
        "list_sections",
        "list_chunks",
        "load_original",
        "list_collections",
        "search_knowledge",
        "get_archive",
        "load_archive",
        "load_archive_text",
        "find_earlier_result",
        "find_known_result",
        "list_proposals",
        "get_proposal",
        "list_shared",
        "get_shared",
        "memory_health",
        "list_conflicts",
        "list_quarantine",
        "list_buffer",
        "list_tools",
        "get_guide",
        # Each tool looks at the role itself: searching reads, saving writes.
        "call_tool",
        "answer_mcp",
        "list_audit",
        "show_audit",
        "get_scope",
        "get_stats",
        "whoami",
    ),
    Permission(Role.WRITER): (
        "save_record",
        "save_records",
        "change_record",
        "show_in_profile",
        "edit_records",
        "delete_record",
        "delete_records",
        "undo_record",
        "record_used",
        "record_rejected",
        "write_claim",
        "extract_conversations",
        "set_user_names",
        "observe",
        "import_chat",
        "open_session",
        "observe_in_session",
        # What it compresses on the way is stored.
        "prepare_session",
        "settle_session",
        "leave_session",
        "end_session",
        "replace_notes",
        "add_note",
        "note_structure",
        "clear_notes",
        "update_scratchpad",
        "clear_scratchpad",
        "process_tool_result",
        "sync_session",
        "plan_session",
        "write_items",
        "pop_item",
        "clear_items",
        "open_archives",
        "close_archives",
        "delete_archive",
        "add_document",
        "upload_documents",
        "retry_document",
        "archive_document",
        "delete_document",
        "accept_record",
        "reject_record",
        "promote_record",
        "propose",
        "withdraw_proposal",
        # Its creator may, else the coordinator: see `sharing.parties`.
        "change_shared",
        "delete_shared",
    ),
    Permission(Role.COORDINATOR): (
        "approve_proposal",
        "reject_proposal",
        "resolve_conflict",
    ),
    Permission(Role.ADMIN): (
        "list_workspace_scopes",
        "list_workspace_users",
        "list_workspace_agents",
        "list_workspace_sessions",
        "list_workspace_tags",
        "list_workspace_categories",
        "list_workspace_records",
        "recall_in_workspace",
        "workspace_health",
        "list_workspace_conflicts",
        "list_workspace_changes",
        "list_workspace_audit",
        "stream_workspace_events",
        "purge_record",
        "forget",
        "forget_with_progress",
        "export_memory",
        "import_memory",
        "expire_records",
        "apply_retention",
        "sweep",
        "sweep_archives",
        "verify_audit",
        "seal_audit",
        # Only keys that this one covers.
        "list_keys",
        "create_key",
        "revoke_key",
    ),
    Permission(Role.ADMIN, "server"): (
        "back_up",
        "start_reindexing",
        "get_reindexing",
        "stop_reindexing",
        "list_jobs",
        "get_job",
        "cancel_job",
        "run_due_jobs",
        "drain_jobs",
        "diagnose_server",
        "list_agents",
        "get_agent",
        "set_agent",
        "move_agent",
        "purge_agent_copy",
        "delete_agent",
        "list_settings",
        "get_metrics",
        "scrape_metrics",
        "load_demo_workspace",
        "remove_demo_workspace",
    ),
}
PERMISSIONS: Final[Mapping[str, Permission]] = {
    operation: permission
    for permission, operations in _BY_PERMISSION.items()
    for operation in operations
}
_CLOSED: Final = Permission(Role.ADMIN, "server")


def permission_of(operation: str) -> Permission | None:
    """Return what an operation needs; None if it needs nothing."""
    return None if operation in PUBLIC else PERMISSIONS.get(operation, _CLOSED)


async def require_permission(request: Request) -> None:
    """Refuse a request whose sender may not call this operation at all."""
    route = request.scope["route"]
    assert isinstance(route, APIRoute)
    needed = permission_of(route.name)
    if needed is None:
        return
    identity = await identify(request)
    _begin(request, identity)
    what = f"{request.method} {route.path}"
    identity.grant.role.require(needed.role, what)
    if needed.reach == "server":
        identity.require_server(what)


def _begin(request: Request, identity: Identity) -> None:
    """Let a request count against the limits of its key, once; see `limits`."""
    if identity.means != "open" and not hasattr(request.state, "limited"):
        name = identity.key_id or identity.name
        cast("Limits", request.app.state.limits).begin(name)
        request.state.limited = name
