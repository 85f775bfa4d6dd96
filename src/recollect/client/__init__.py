"""The memory of a server, with the verbs of `Memory`; needs the extra `remote`.

    async with Memory.open("http://127.0.0.1:7077") as memory: ...

`recollect.sync.Memory.open` gives the same to blocking code.
"""

from recollect.client.memory import RemoteMemory, connect
from recollect.client.session import RemoteSession

__all__ = ["RemoteMemory", "RemoteSession", "connect"]
