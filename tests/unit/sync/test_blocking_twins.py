"""The blocking twins have every public member of the async classes, called the same way."""

import inspect
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import recollect
import recollect.sync
from recollect.context.archives.manager import ToolResultManager
from recollect.context.scratchpad import SessionScratchpad
from recollect.context.session import Session
from recollect.memory.administration import Agents, ApiKeys, BackgroundJobs
from recollect.memory.archives import ToolArchives
from recollect.memory.audit import AuditTrail
from recollect.memory.items import Items
from recollect.memory.knowledge import KnowledgeDocuments
from recollect.memory.shared import SharedMemory
from recollect.memory.upkeep import Upkeep
from recollect.memory.workspace import WorkspaceView
from recollect.sync import session, toolbox, views
from recollect.tools import Toolbox

_TWINS: list[tuple[type, type]] = [
    (recollect.Memory, recollect.sync.Memory),
    (Session, recollect.sync.Session),
    (ToolResultManager, session.ToolResultManager),
    (SessionScratchpad, session.SessionScratchpad),
    (SharedMemory, views.SharedMemory),
    (Upkeep, views.Upkeep),
    (AuditTrail, views.AuditTrail),
    (ToolArchives, views.ToolArchives),
    (KnowledgeDocuments, views.KnowledgeDocuments),
    (Items, views.Items),
    (BackgroundJobs, views.BackgroundJobs),
    (Agents, views.Agents),
    (ApiKeys, views.ApiKeys),
    (WorkspaceView, views.WorkspaceView),
    (Toolbox, toolbox.Toolbox),
]


def public(kind: type) -> dict[str, Any]:
    """Return the public methods and properties of a class, its bases included."""
    classes = reversed(kind.__mro__[:-1])
    members = {name: member for each in classes for name, member in vars(each).items()}
    return {
        name: member
        for name, member in members.items()
        if not name.startswith("_") and not name.isupper()
    }


def members() -> Iterator[Any]:
    for original, twin in _TWINS:
        for name in public(original):
            yield pytest.param(original, twin, name, id=f"{original.__name__}.{name}")


@pytest.mark.parametrize(("original", "twin"), _TWINS, ids=lambda kind: kind.__name__)
def test_a_twin_has_the_same_public_names(original: type, twin: type):
    assert public(twin).keys() == public(original).keys()


@pytest.mark.parametrize(("original", "twin", "name"), list(members()))
def test_parameters_and_words_are_the_same(original: type, twin: type, name: str):
    theirs, ours = public(original)[name], public(twin)[name]
    if isinstance(theirs, property):
        theirs, ours = theirs.fget, ours.fget
    if isinstance(theirs, classmethod):
        theirs, ours = theirs.__func__, ours.__func__

    assert ours.__name__ == name
    assert inspect.signature(ours).parameters == inspect.signature(theirs).parameters
    assert not inspect.iscoroutinefunction(ours)
    if name != "open":
        assert ours.__doc__ == theirs.__doc__
        assert inspect.signature(ours).return_annotation == (
            inspect.signature(theirs).return_annotation
        )


def test_importing_the_blocking_memory_imports_no_sessions_and_no_tools():
    program = "import sys, recollect.sync; print(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    modules = set(printed.stdout.decode().split())

    assert "recollect.sync.memory" in modules
    assert not modules & {"recollect.sync.session", "recollect.sync.toolbox", "pydantic"}
