"""Every public verb is reachable: over HTTP, from the client and at the command line."""

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from recollect.cli.app import run
from recollect.client.memory import RemoteMemory
from recollect.client.session import RemoteScratchpad, RemoteSession, RemoteToolResults
from recollect.client.views import (
    RemoteAgents,
    RemoteArchives,
    RemoteAudit,
    RemoteItems,
    RemoteJobs,
    RemoteKeys,
    RemoteKnowledge,
    RemoteShared,
    RemoteUpkeep,
    RemoteWorkspace,
)
from recollect.context.archives.manager import ToolResultManager
from recollect.context.scratchpad import SessionScratchpad
from recollect.context.session import Session
from recollect.memory import Memory
from recollect.memory.administration import Agents, ApiKeys, BackgroundJobs
from recollect.memory.archives import ToolArchives
from recollect.memory.audit import AuditTrail
from recollect.memory.items import Items
from recollect.memory.knowledge import KnowledgeDocuments
from recollect.memory.shared import SharedMemory
from recollect.memory.upkeep import Upkeep
from recollect.memory.workspace import WorkspaceView
from recollect.server.app import create_app

_CLASSES: dict[str, tuple[type, type]] = {
    "memory": (Memory, RemoteMemory),
    "session": (Session, RemoteSession),
    "shared": (SharedMemory, RemoteShared),
    "upkeep": (Upkeep, RemoteUpkeep),
    "audit": (AuditTrail, RemoteAudit),
    "archives": (ToolArchives, RemoteArchives),
    "knowledge": (KnowledgeDocuments, RemoteKnowledge),
    "items": (Items, RemoteItems),
    "jobs": (BackgroundJobs, RemoteJobs),
    "agents": (Agents, RemoteAgents),
    "keys": (ApiKeys, RemoteKeys),
    "workspace": (WorkspaceView, RemoteWorkspace),
    "session.scratchpad": (SessionScratchpad, RemoteScratchpad),
    "session.archive": (ToolResultManager, RemoteToolResults),
}
# Verb → the operation that serves it, by the name in the description of the API.
_ROUTES = {
    "memory.remember": "save_record",
    "memory.remember_many": "save_records",
    "memory.observe": "observe",
    "memory.session": "open_session",
    "memory.sessions": "list_sessions",
    "memory.tags": "list_tags",
    "memory.categories": "list_categories",
    "memory.changes": "list_changes",
    "memory.load_tool_history": "load_archive_text",
    "memory.recall": "recall",
    "memory.context": "make_context",
    "memory.profile": "get_profile",
    "memory.show_in_profile": "show_in_profile",
    "memory.guide": "get_guide",
    "memory.tools": "list_tools",
    "memory.used": "record_used",
    "memory.rejected": "record_rejected",
    "memory.get": "get_record",
    "memory.turn": "get_turn",
    "memory.list": "list_records",
    "memory.turns": "list_turns",
    "memory.update": "change_record",
    "memory.update_many": "edit_records",
    "memory.delete": "delete_record",
    "memory.delete_many": "delete_records",
    "memory.purge": "purge_record",
    "memory.history": "record_history",
    "memory.undo": "undo_record",
    "memory.write": "write_claim",
    "memory.extract": "extract_conversations",
    "memory.trace": "get_trace",
    "memory.user_names": "get_user_names",
    "memory.set_user_names": "set_user_names",
    "memory.route": "route_message",
    "memory.forget": "forget",
    "memory.reindex": "start_reindexing",
    "memory.reindexing": "get_reindexing",
    "memory.stop_reindexing": "stop_reindexing",
    "memory.stats": "get_stats",
    "memory.metrics": "get_metrics",
    "memory.backup": "back_up",
    "memory.export_to": "export_memory",
    "memory.import_from": "import_memory",
    "memory.import_chat": "import_chat",
    "memory.work": "run_due_jobs",
    "memory.drain": "drain_jobs",
    "memory.scope": "get_scope",
    "session.observe": "observe_in_session",
    "session.prepare": "prepare_session",
    "session.sync": "sync_session",
    "session.plan": "plan_session",
    "session.expand": "expand_summary",
    "session.settle": "settle_session",
    "session.refresh": "session_status",
    "session.save": "replace_notes",
    "session.close": "leave_session",
    "session.end": "end_session",
    "session.scratchpad.read": "get_scratchpad",
    "session.scratchpad.update": "update_scratchpad",
    "session.scratchpad.touch": "update_scratchpad",
    "session.scratchpad.clear": "clear_scratchpad",
    "session.process_tool_result": "process_tool_result",
    "session.known_result": "find_known_result",
    "session.archive.process_tool_result": "process_tool_result",
    "session.archive.load_tool_result": "load_archive",
    "session.archive.load_tool_history": "load_archive_text",
    "session.archive.prepare_context": "open_archives",
    "session.archive.restore_placeholders": "close_archives",
    "session.archive.find_earlier": "find_earlier_result",
    "shared.propose": "propose",
    "shared.proposals": "list_proposals",
    "shared.proposal": "get_proposal",
    "shared.approve": "approve_proposal",
    "shared.reject": "reject_proposal",
    "shared.withdraw": "withdraw_proposal",
    "shared.list": "list_shared",
    "shared.get": "get_shared",
    "shared.update": "change_shared",
    "shared.delete": "delete_shared",
    "upkeep.health": "memory_health",
    "upkeep.buffer": "list_buffer",
    "upkeep.promote": "promote_record",
    "upkeep.conflicts": "list_conflicts",
    "upkeep.resolve": "resolve_conflict",
    "upkeep.quarantined": "list_quarantine",
    "upkeep.accept": "accept_record",
    "upkeep.reject": "reject_record",
    "upkeep.expire": "expire_records",
    "upkeep.retain": "apply_retention",
    "upkeep.sweep": "sweep",
    "audit.tail": "list_audit",
    "audit.show": "show_audit",
    "audit.verify": "verify_audit",
    "audit.replay": "replay_recall",
    "audit.seal": "seal_audit",
    "archives.list": "list_archives",
    "archives.get": "get_archive",
    "archives.load": "load_archive",
    "archives.find_earlier": "find_earlier_result",
    "archives.delete": "delete_archive",
    "archives.sweep": "sweep_archives",
    "knowledge.add": "add_document",
    "knowledge.collections": "list_collections",
    "knowledge.list": "list_documents",
    "knowledge.get": "get_document",
    "knowledge.sections": "list_sections",
    "knowledge.chunks": "list_chunks",
    "knowledge.original": "load_original",
    "knowledge.search": "search_knowledge",
    "knowledge.archive": "archive_document",
    "knowledge.delete": "delete_document",
    "knowledge.retry": "retry_document",
    "items.put": "write_items",
    "items.write": "write_items",
    "items.delete": "write_items",
    "items.append": "write_items",
    "items.get": "get_item",
    "items.search": "search_items",
    "items.namespaces": "list_namespaces",
    "items.listed": "list_items",
    "items.pop": "pop_item",
    "items.clear": "clear_items",
    "jobs.list": "list_jobs",
    "jobs.get": "get_job",
    "jobs.cancel": "cancel_job",
    "agents.list": "list_agents",
    "agents.get": "get_agent",
    "agents.put": "set_agent",
    "agents.move": "move_agent",
    "agents.purge_copy": "purge_agent_copy",
    "agents.delete": "delete_agent",
    "keys.create": "create_key",
    "keys.list": "list_keys",
    "keys.revoke": "revoke_key",
    "workspace.scopes": "list_workspace_scopes",
    "workspace.users": "list_workspace_users",
    "workspace.agents": "list_workspace_agents",
    "workspace.sessions": "list_workspace_sessions",
    "workspace.tags": "list_workspace_tags",
    "workspace.categories": "list_workspace_categories",
    "workspace.records": "list_workspace_records",
    "workspace.recall": "recall_in_workspace",
    "workspace.health": "workspace_health",
    "workspace.conflicts": "list_workspace_conflicts",
    "workspace.audit": "list_workspace_audit",
    "workspace.changes": "list_workspace_changes",
}
_OWN = "it is about this process, not about what is stored"
_FACE = "it serves whoever builds a face; every write has a key over HTTP"
_WITHOUT_ROUTE = {
    "memory.open": _OWN,
    "memory.close": _OWN,
    "memory.once": _FACE,
    "knowledge.sync": "the files lie where it is called; they are sent one by one",
    "session.discard": _OWN,
    "session.archive.placeholder": "it only words what a listing tells",
}
# Verb → the command that does it.
_COMMANDS = {
    "memory.remember": "remember",
    "memory.observe": "observe",
    "memory.sessions": "sessions",
    "memory.tags": "tags",
    "memory.categories": "categories",
    "memory.load_tool_history": "archives show",
    "memory.recall": "recall",
    "memory.context": "context",
    "memory.profile": "profile",
    "memory.show_in_profile": "profile",
    "memory.guide": "tools guide",
    "memory.tools": "tools list",
    "memory.used": "used",
    "memory.rejected": "rejected",
    "memory.get": "show",
    "memory.turn": "show",
    "memory.list": "list",
    "memory.turns": "turns",
    "memory.update": "edit",
    "memory.update_many": "tag",
    "memory.delete": "delete",
    "memory.delete_many": "delete",
    "memory.purge": "purge",
    "memory.history": "history",
    "memory.undo": "undo",
    "memory.write": "write",
    "memory.extract": "extract",
    "memory.trace": "trace",
    "memory.user_names": "names",
    "memory.set_user_names": "names",
    "memory.route": "route",
    "memory.forget": "forget",
    "memory.reindex": "reindex",
    "memory.reindexing": "reindex",
    "memory.stop_reindexing": "reindex",
    "memory.stats": "stats",
    "memory.metrics": "stats",
    "memory.backup": "backup",
    "memory.export_to": "export",
    "memory.import_from": "import",
    "memory.import_chat": "import",
    "memory.work": "work",
    "upkeep.health": "health",
    "upkeep.buffer": "buffer",
    "upkeep.promote": "promote",
    "upkeep.conflicts": "conflicts",
    "upkeep.resolve": "resolve",
    "upkeep.quarantined": "quarantine",
    "upkeep.accept": "accept",
    "upkeep.reject": "reject",
    "upkeep.sweep": "sweep",
    "archives.list": "archives list",
    "archives.get": "archives show",
    "archives.load": "archives show",
    "archives.delete": "archives delete",
    "archives.sweep": "archives sweep",
    "knowledge.add": "kb add",
    "knowledge.sync": "kb sync",
    "knowledge.collections": "kb stats",
    "knowledge.list": "kb ls",
    "knowledge.get": "kb show",
    "knowledge.sections": "kb show",
    "knowledge.chunks": "kb show",
    "knowledge.search": "kb search",
    "knowledge.delete": "kb rm",
    "jobs.list": "jobs list",
    "jobs.get": "jobs show",
    "jobs.cancel": "jobs cancel",
    "agents.list": "agents list",
    "agents.get": "agents show",
    "agents.put": "agents set",
    "agents.move": "agents move",
    "agents.purge_copy": "agents move",
    "agents.delete": "agents delete",
    "keys.create": "keys create",
    "keys.list": "keys list",
    "keys.revoke": "keys revoke",
    "workspace.scopes": "workspace scopes",
    "workspace.users": "workspace users",
    "workspace.agents": "workspace agents",
    "workspace.sessions": "workspace sessions",
    "workspace.tags": "workspace tags",
    "workspace.categories": "workspace categories",
    "workspace.records": "workspace records",
    "workspace.recall": "workspace recall",
    "workspace.health": "workspace health",
    "workspace.conflicts": "workspace conflicts",
    "workspace.audit": "workspace audit",
    "audit.tail": "audit tail",
    "audit.show": "audit show",
    "audit.verify": "audit verify",
    "audit.replay": "audit replay",
    "shared.propose": "share propose",
    "shared.proposals": "share proposals",
    "shared.approve": "share approve",
    "shared.reject": "share reject",
    "shared.withdraw": "share withdraw",
    "shared.list": "share list",
    "shared.get": "share show",
    "shared.update": "share edit",
    "shared.delete": "share delete",
    "shared.proposal": "share show",
}
_LIVE = "a window lives with the agent that talks; a command ends at once"
_WITHOUT_COMMAND = {
    "memory.open": _OWN,
    "memory.close": _OWN,
    "memory.once": _FACE,
    "memory.scope": "--user, --agent, --workspace and --org choose it for every command",
    "memory.session": _LIVE,
    "memory.remember_many": "import takes many records",
    "memory.changes": "the audit tells what happened",
    "workspace.changes": "the audit tells what happened",
    "memory.drain": "work --once does what is due",
    "archives.find_earlier": _LIVE,
    "knowledge.original": "the file is where it came from, and over HTTP",
    "knowledge.archive": "kb sync does it when a file is gone",
    "knowledge.retry": "kb add of the same file does it",
    "audit.seal": "it happens by itself, and before verify",
    "upkeep.expire": "sweep does it too",
    "upkeep.retain": "sweep does it too",
}


def verbs(kind: type) -> Iterator[str]:
    """The public methods of a class; what it only shows is no verb."""
    for name, member in inspect.getmembers(kind):
        if not name.startswith("_") and callable(member):
            yield name


_VERBS = [f"{room}.{name}" for room, (own, _) in _CLASSES.items() for name in verbs(own)]


def test_every_verb_has_a_route_or_a_reason():
    described: dict[str, Any] = create_app("unused.db").openapi()
    operations = {
        operation["operationId"]
        for methods in described["paths"].values()
        for operation in methods.values()
    }
    assert {it for it in _VERBS if it not in _ROUTES} == set(_WITHOUT_ROUTE)
    assert set(_ROUTES) <= set(_VERBS)
    assert {verb: name for verb, name in _ROUTES.items() if name not in operations} == {}


@pytest.mark.parametrize("room", _CLASSES)
def test_every_verb_of_the_client_is_its_own_and_is_called_the_same_way(room: str):
    own, remote = _CLASSES[room]
    for name in verbs(own):
        if f"{room}.{name}" in {"memory.open", "session.archive.placeholder"}:
            continue
        assert getattr(remote, name) is not getattr(own, name), f"{room}.{name}"
        theirs, ours = (inspect.signature(getattr(it, name)) for it in (remote, own))
        assert theirs.parameters == ours.parameters, f"{room}.{name}"


def test_every_verb_has_a_command_or_a_reason(capsys: pytest.CaptureFixture[str]):
    # Of sessions the reason is one: a window lives with the agent that talks.
    # So it is of items: frameworks keep and read them, people see them in an export.
    verbs_of_others = {it for it in _VERBS if not it.startswith(("session.", "items."))}
    assert verbs_of_others - set(_COMMANDS) == set(_WITHOUT_COMMAND)
    unknown = [it for it in sorted(set(_COMMANDS.values())) if run([*it.split(), "--help"]) != 0]
    capsys.readouterr()
    assert unknown == []
