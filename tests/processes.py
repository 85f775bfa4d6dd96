"""Processes that tests start: they hear Ctrl-C, and do not outlive the test."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import AnyStr, Final

from tests.nursery import WARM

# What a test interrupts hears Ctrl-C also where whoever started the tests ignores it, as a shell
# does for what it starts in the background: `nohup make test &`.
HEAR_CTRL_C: Final = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
RECOLLECT: Final = [
    WARM,
    "-c",
    f"{HEAR_CTRL_C}from recollect.cli import main; main()",
]

# How a process comes into the world, for `preexec_fn`: from a terminal, or in the background.
STARTED: Final[dict[str, Callable[[], object]]] = {
    "in front": partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    "in the background": partial(signal.signal, signal.SIGINT, signal.SIG_IGN),
}


class Child(subprocess.Popen[AnyStr]):
    """A process that ends with its block when that fails; Popen would wait for it for ever."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self.kill()
        super().__exit__(kind, error, trace)
