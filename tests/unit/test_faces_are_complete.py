"""Every operation is declared once, and has the faces that its declaration names.

`recollect.domain.operation` says what a declaration holds; CONTRIBUTING.md says how to add one.
"""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollect.cli.app import run
from recollect.client import remote, session, views
from recollect.client.memory import RemoteMemory
from recollect.context.archives.manager import ToolResultManager
from recollect.context.scratchpad import SessionScratchpad
from recollect.context.session import Session
from recollect.domain.operation import OPERATIONS, Operation, operation_of
from recollect.domain.scope import Role
from recollect.memory import Memory
from recollect.memory.administration import Agents, ApiKeys, BackgroundJobs
from recollect.memory.archives import ToolArchives
from recollect.memory.audit import AuditTrail
from recollect.memory.items import Items
from recollect.memory.knowledge import KnowledgeDocuments
from recollect.memory.shared import SharedMemory
from recollect.memory.upkeep import Upkeep
from recollect.memory.workspace import WorkspaceView
from recollect.server.permissions import DECLARING
from recollect.tools import SPECS
from tests.described_api import API

_CLASSES: dict[str, tuple[type, type]] = {
    "memory": (Memory, RemoteMemory),
    "session": (Session, session.RemoteSession),
    "shared": (SharedMemory, views.RemoteShared),
    "upkeep": (Upkeep, views.RemoteUpkeep),
    "audit": (AuditTrail, views.RemoteAudit),
    "archives": (ToolArchives, views.RemoteArchives),
    "knowledge": (KnowledgeDocuments, views.RemoteKnowledge),
    "items": (Items, views.RemoteItems),
    "jobs": (BackgroundJobs, views.RemoteJobs),
    "agents": (Agents, views.RemoteAgents),
    "keys": (ApiKeys, views.RemoteKeys),
    "workspace": (WorkspaceView, views.RemoteWorkspace),
    "session.scratchpad": (SessionScratchpad, session.RemoteScratchpad),
    "session.archive": (ToolResultManager, session.RemoteToolResults),
}
_OWN = "it is about this process, not about what is stored"
_FACE = "it serves whoever builds a face; every write has a key over HTTP"
_SESSION = "a session calls it, which has verbs of its own"
# Verbs that are no operation of a server.
_WITHOUT_OPERATION = {
    "memory.open": _OWN,
    "memory.close": _OWN,
    "memory.as_opened": _FACE,
    "memory.once": _FACE,
    "session.discard": _OWN,
    "session.archive.placeholder": "it only words what a listing tells",
    "session.archive.archived": _SESSION,
    "session.archive.renewed": _SESSION,
    "session.archive.close": _SESSION,
}
# Verbs that call other verbs, here and in the client.
_BUILT_ON = {
    "items.put": "items.write",
    "items.delete": "items.write",
    "items.append": "items.write",
    "knowledge.sync": "knowledge.add",
}
# Verbs that the client writes itself, by an operation that another verb declares.
_SAME_OPERATION = {
    "session.refresh": "memory.session",
    "session.scratchpad.touch": "session.scratchpad.update",
    "session.archive.process_tool_result": "session.process_tool_result",
    "session.archive.load_tool_result": "archives.load",
    "session.archive.load_tool_history": "memory.load_tool_history",
    "session.archive.find_earlier": "archives.find_earlier",
}
_LIVE = "a window lives with the agent that talks; a command ends at once"
_WITHOUT_COMMAND = {
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
# Tools that use several operations.
_TOOLS_OF_THEIR_OWN = {"memory_search", "memory_summarize"}


def verbs(kind: type) -> Iterator[str]:
    """Yield the public methods of a class; what it only shows is no verb."""
    for name, member in inspect.getmembers(kind):
        if not name.startswith("_") and callable(member):
            yield name


_VERBS = {
    f"{room}.{name}": getattr(own, name)
    for room, (own, _) in _CLASSES.items()
    for name in verbs(own)
}
_DECLARED = {
    verb: operation
    for verb, method in _VERBS.items()
    if (operation := operation_of(method)) is not None
}


def test_every_route_is_declared_with_its_verb_and_path():
    routes = {
        operation["operationId"]: (method.upper(), path)
        for path, methods in API["paths"].items()
        for method, operation in methods.items()
    }
    # MCP describes itself, in its own protocol.
    routes["answer_mcp"] = ("POST", "/mcp")

    assert {it.name: (it.method, it.path) for it in OPERATIONS.values()} == routes


def test_every_verb_is_an_operation_or_has_a_reason():
    assert {own for own, _ in _CLASSES.values()} == set(DECLARING)
    assert _VERBS.keys() - _DECLARED == {*_WITHOUT_OPERATION, *_BUILT_ON, *_SAME_OPERATION}
    assert {*_BUILT_ON.values(), *_SAME_OPERATION.values()} <= _DECLARED.keys()


def test_an_operation_is_declared_only_once():
    with pytest.raises(ValueError, match="get_turn is declared twice"):
        Operation("GET", "/v1/other", "get_turn", Role.READER)(lambda: None)


@pytest.mark.parametrize("room", _CLASSES)
def test_the_client_sends_every_operation_and_is_called_the_same_way(room: str):
    own, its_remote = _CLASSES[room]
    for name in verbs(own):
        verb = f"{room}.{name}"
        theirs, ours = getattr(its_remote, name), getattr(own, name)
        assert inspect.signature(theirs).parameters == inspect.signature(ours).parameters, verb
        if verb in _DECLARED or verb in _SAME_OPERATION:
            assert theirs is not ours, verb
        # What the client derives, it can decode.
        if verb in _DECLARED and operation_of(theirs) is not None:
            assert remote.result_type(ours, its_remote) is not None, verb


def test_every_operation_has_its_command_or_a_reason(capsys: pytest.CaptureFixture[str]):
    # Of sessions the reason is one: a window lives with the agent that talks.
    # So it is of items: frameworks keep and read them, people see them in an export.
    commands = {
        verb: operation.command
        for verb, operation in _DECLARED.items()
        if not verb.startswith(("session.", "items."))
    }
    assert {verb for verb, command in commands.items() if command is None} == set(_WITHOUT_COMMAND)
    named = {"kb sync", *(command for command in commands.values() if command is not None)}
    unknown = [command for command in sorted(named) if run([*command.split(), "--help"]) != 0]
    capsys.readouterr()
    assert unknown == []


def test_every_tool_is_named_by_its_operation():
    named = [it.tool for it in OPERATIONS.values() if it.tool is not None]
    assert sorted([*named, *_TOOLS_OF_THEIR_OWN]) == sorted(spec.name for spec in SPECS)


def test_the_guide_to_adding_a_verb_quotes_the_code_in_at_most_five_places():
    root = Path(__file__).parents[2]
    guide = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = guide.partition("## Add a verb\n")[2].partition("\n## ")[0]
    quoted = re.findall(r"```python\n# (\S+)\n(.*?)```", section, flags=re.DOTALL)

    assert 3 <= len(quoted) <= 5
    for path, code in quoted:
        assert code in (root / path).read_text(encoding="utf-8"), path
    assert operation_of(Memory.show_in_profile) == OPERATIONS["show_in_profile"]
