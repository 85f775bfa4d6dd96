"""The views of a memory for blocking code: their calls without await."""

from __future__ import annotations

from recollect.memory.administration import Agents as AsyncAgents
from recollect.memory.administration import ApiKeys as AsyncApiKeys
from recollect.memory.administration import BackgroundJobs as AsyncBackgroundJobs
from recollect.memory.archives import ToolArchives as AsyncToolArchives
from recollect.memory.audit import AuditTrail as AsyncAuditTrail
from recollect.memory.items import Items as AsyncItems
from recollect.memory.knowledge import KnowledgeDocuments as AsyncKnowledgeDocuments
from recollect.memory.shared import SharedMemory as AsyncSharedMemory
from recollect.memory.upkeep import Upkeep as AsyncUpkeep
from recollect.memory.workspace import WorkspaceView as AsyncWorkspaceView
from recollect.sync.twin import Twin, blocking


class SharedMemory(Twin[AsyncSharedMemory]):
    """`memory.shared` for blocking code."""

    propose = blocking(AsyncSharedMemory.propose)
    proposals = blocking(AsyncSharedMemory.proposals)
    proposal = blocking(AsyncSharedMemory.proposal)
    approve = blocking(AsyncSharedMemory.approve)
    reject = blocking(AsyncSharedMemory.reject)
    reopen = blocking(AsyncSharedMemory.reopen)
    withdraw = blocking(AsyncSharedMemory.withdraw)
    list = blocking(AsyncSharedMemory.list)
    get = blocking(AsyncSharedMemory.get)
    update = blocking(AsyncSharedMemory.update)
    delete = blocking(AsyncSharedMemory.delete)
    undo = blocking(AsyncSharedMemory.undo)


class Upkeep(Twin[AsyncUpkeep]):
    """`memory.upkeep` for blocking code."""

    health = blocking(AsyncUpkeep.health)
    buffer = blocking(AsyncUpkeep.buffer)
    promote = blocking(AsyncUpkeep.promote)
    conflicts = blocking(AsyncUpkeep.conflicts)
    resolve = blocking(AsyncUpkeep.resolve)
    reopen = blocking(AsyncUpkeep.reopen)
    quarantined = blocking(AsyncUpkeep.quarantined)
    accept = blocking(AsyncUpkeep.accept)
    reject = blocking(AsyncUpkeep.reject)
    expire = blocking(AsyncUpkeep.expire)
    retain = blocking(AsyncUpkeep.retain)
    sweep = blocking(AsyncUpkeep.sweep)


class AuditTrail(Twin[AsyncAuditTrail]):
    """`memory.audit` for blocking code."""

    tail = blocking(AsyncAuditTrail.tail)
    show = blocking(AsyncAuditTrail.show)
    verify = blocking(AsyncAuditTrail.verify)
    replay = blocking(AsyncAuditTrail.replay)
    seal = blocking(AsyncAuditTrail.seal)


class ToolArchives(Twin[AsyncToolArchives]):
    """`memory.archives` for blocking code."""

    list = blocking(AsyncToolArchives.list)
    get = blocking(AsyncToolArchives.get)
    load = blocking(AsyncToolArchives.load)
    search = blocking(AsyncToolArchives.search)
    find_earlier = blocking(AsyncToolArchives.find_earlier)
    delete = blocking(AsyncToolArchives.delete)
    sweep = blocking(AsyncToolArchives.sweep)


class KnowledgeDocuments(Twin[AsyncKnowledgeDocuments]):
    """`memory.knowledge` for blocking code."""

    add = blocking(AsyncKnowledgeDocuments.add)
    sync = blocking(AsyncKnowledgeDocuments.sync)
    collections = blocking(AsyncKnowledgeDocuments.collections)
    list = blocking(AsyncKnowledgeDocuments.list)
    get = blocking(AsyncKnowledgeDocuments.get)
    sections = blocking(AsyncKnowledgeDocuments.sections)
    chunks = blocking(AsyncKnowledgeDocuments.chunks)
    original = blocking(AsyncKnowledgeDocuments.original)
    search = blocking(AsyncKnowledgeDocuments.search)
    archive = blocking(AsyncKnowledgeDocuments.archive)
    delete = blocking(AsyncKnowledgeDocuments.delete)
    retry = blocking(AsyncKnowledgeDocuments.retry)


class Items(Twin[AsyncItems]):
    """`memory.items` for blocking code."""

    put = blocking(AsyncItems.put)
    write = blocking(AsyncItems.write)
    get = blocking(AsyncItems.get)
    delete = blocking(AsyncItems.delete)
    search = blocking(AsyncItems.search)
    namespaces = blocking(AsyncItems.namespaces)
    append = blocking(AsyncItems.append)
    listed = blocking(AsyncItems.listed)
    pop = blocking(AsyncItems.pop)
    clear = blocking(AsyncItems.clear)


class BackgroundJobs(Twin[AsyncBackgroundJobs]):
    """`memory.jobs` for blocking code."""

    list = blocking(AsyncBackgroundJobs.list)
    get = blocking(AsyncBackgroundJobs.get)
    cancel = blocking(AsyncBackgroundJobs.cancel)


class Agents(Twin[AsyncAgents]):
    """`memory.agents` for blocking code."""

    list = blocking(AsyncAgents.list)
    get = blocking(AsyncAgents.get)
    put = blocking(AsyncAgents.put)
    try_store = blocking(AsyncAgents.try_store)
    move = blocking(AsyncAgents.move)
    purge_copy = blocking(AsyncAgents.purge_copy)
    delete = blocking(AsyncAgents.delete)


class ApiKeys(Twin[AsyncApiKeys]):
    """`memory.keys` for blocking code."""

    create = blocking(AsyncApiKeys.create)
    list = blocking(AsyncApiKeys.list)
    revoke = blocking(AsyncApiKeys.revoke)


class WorkspaceView(Twin[AsyncWorkspaceView]):
    """`memory.workspace` for blocking code."""

    scopes = blocking(AsyncWorkspaceView.scopes)
    every = blocking(AsyncWorkspaceView.every)
    users = blocking(AsyncWorkspaceView.users)
    agents = blocking(AsyncWorkspaceView.agents)
    sessions = blocking(AsyncWorkspaceView.sessions)
    tags = blocking(AsyncWorkspaceView.tags)
    categories = blocking(AsyncWorkspaceView.categories)
    records = blocking(AsyncWorkspaceView.records)
    graph = blocking(AsyncWorkspaceView.graph)
    recall = blocking(AsyncWorkspaceView.recall)
    health = blocking(AsyncWorkspaceView.health)
    conflicts = blocking(AsyncWorkspaceView.conflicts)
    audit = blocking(AsyncWorkspaceView.audit)
    changes = blocking(AsyncWorkspaceView.changes)
