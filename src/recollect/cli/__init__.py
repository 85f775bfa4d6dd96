"""The command line: the facade's verbs for a person at a terminal and for scripts."""


def main() -> None:
    """Run `recollect` with the arguments of this process."""
    # Whoever only imports the package does not pay for the command line.
    import io
    import sys

    from recollect.cli.app import run

    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a character shows a question mark; that is no reason to fail.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(run(sys.argv[1:]))
