"""The command line: the facade's verbs for a person at a terminal and for scripts."""


def main() -> None:
    """Run `recollect` with the arguments of this process."""
    # Whoever only imports the package does not pay for the command line.
    import gc
    import io
    import sys

    # Imports leave no garbage; looking for it as often as usual takes a twelfth of a short command.
    gc.set_threshold(50_000, 20, 20)
    from recollect.cli.app import run

    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a character shows a question mark; that is no reason to fail.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    _leave(run(sys.argv[1:]))


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
