"""The command line: the facade's verbs for a person at a terminal and for scripts."""

from typing import Final

# The exit code of what Ctrl-C ended; importing it from the command line would come too late.
_INTERRUPTED: Final = 130
# Seconds that a short command may take.
_SHORT_RUN_SECONDS: Final = 3.0
# glibc's number for the size from which memory comes from the system, and ours.
_MMAP_THRESHOLD: Final = -3
_LARGE_ARRAY: Final = 1 << 19
# How libraries start, unless somebody wants it otherwise.
_LIBRARIES: Final = {
    # numpy's threads sleep when they have nothing to do, instead of keeping a core busy.
    "OPENBLAS_THREAD_TIMEOUT": "4",
    # Whether any installed package extends pydantic takes long to find out.
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
}


def main() -> None:
    """Run `recollect` with the arguments of this process."""
    try:
        _leave(_run())
    except KeyboardInterrupt:
        # Ctrl-C before the command began, or when it had ended.
        _leave(_INTERRUPTED)


def _run() -> int:
    # Whoever only imports the package does not pay for the command line.
    import io
    import os
    import sys

    _open_missing_streams()
    # Whoever is answered by a server needs nothing of what follows.
    from recollect.cli.running_server import ask

    status = ask(sys.argv[1:])
    if status is not None:
        return status
    _look_for_garbage_later()
    if sys.platform == "linux":
        _give_large_arrays_back()
    for name, value in _LIBRARIES.items():
        os.environ.setdefault(name, value)
    from recollect.cli.app import run

    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a character shows a question mark; that is no reason to fail.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    return run(sys.argv[1:])


def _open_missing_streams() -> None:
    """Open the null device for standard streams that the caller has closed.

    The next file to be opened would get its number otherwise, and what is printed with it.
    """
    import os
    import sys

    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            # The lowest number that is free is given, which is this one.
            opened = os.open(os.devnull, os.O_RDWR)
            assert opened == number
            setattr(sys, name, os.fdopen(opened, mode, encoding="utf-8"))


def _look_for_garbage_later() -> None:
    """Imports leave none, and looking for it takes a twelfth of a short command."""
    import gc
    from threading import Timer

    def begin() -> None:
        # What is there by now stays, and need not be looked through.
        gc.freeze()
        gc.set_threshold(50_000, 20, 20)
        gc.enable()

    gc.disable()
    later = Timer(_SHORT_RUN_SECONDS, begin)
    later.daemon = True
    later.start()


def _give_large_arrays_back() -> None:
    """Let the system have what large arrays took: kept for the next, it is a tenth of a process.

    glibc keeps more and more of it with every array; a limit that is set does not move.
    """
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGE_ARRAY)


def _leave(status: int) -> None:
    """End at once: all is closed and written, and tidying up a process takes longer than many do.

    Output that cannot be written is told in the usual way, which Python knows.
    """
    import logging
    import os
    import sys

    logging.shutdown()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(status)
    os._exit(status)
