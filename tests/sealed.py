"""Run a program that dies as soon as anything in it reaches for the network.

    python tests/sealed.py PROGRAM ARGUMENT...

The kernel kills the process (SIGSYS) at its first `connect`, which every look-up of a name and
every connection begins with, whether Python or a compiled library makes it. Listening and
answering stay possible. Needs Linux, and no rights.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from typing import Final

_CONNECT: Final = {"x86_64": 42, "aarch64": 203}
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_SET_SECCOMP: Final = 22
_SECCOMP_MODE_FILTER: Final = 2
# A program of the Berkeley Packet Filter: operation, jumps if true and if false, operand.
_LOAD_SYSTEM_CALL: Final = (0x20, 0, 0, 0)
_KILL_PROCESS: Final = (0x06, 0, 0, 0x8000_0000)
_ALLOW: Final = (0x06, 0, 0, 0x7FFF_0000)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def seal() -> None:
    """Forbid `connect` to this process and to all that it starts."""
    skip_unless_connect = (0x15, 0, 1, _CONNECT[platform.machine()])
    steps = (_LOAD_SYSTEM_CALL, skip_unless_connect, _KILL_PROCESS, _ALLOW)
    program = _Program(len(steps), b"".join(struct.pack("=HBBI", *step) for step in steps))
    libc = ctypes.CDLL(None, use_errno=True)
    for request in (
        (_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
        (_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0),
    ):
        if libc.prctl(*request) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    seal()
    os.execvp(sys.argv[1], sys.argv[1:])
