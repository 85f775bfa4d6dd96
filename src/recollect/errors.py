"""Every error that leaves Recollect: one tree, each with a code, what happened and what to do."""

from __future__ import annotations

from typing import ClassVar, Final, Self

# A message is read by a person: what it quotes may be as long as a document.
_LONGEST: Final = 2_000
_HEAD: Final = 1_500


def printable(message: str) -> str:
    """A message that every terminal, log and answer can carry, without the middle of a long one."""
    if len(message) > _LONGEST:
        left_out = len(message) - _LONGEST
        tail = message[_HEAD - _LONGEST :]
        message = f"{message[:_HEAD]} … {left_out:,} characters left out … {tail}"
    return message.encode(errors="backslashreplace").decode()


class RecollectError(Exception):
    """Something Recollect could not do; nothing was changed unless the message says so."""

    code: str = "error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, code: str | None = None, hint: str = "") -> None:
        self.message = printable(message)
        super().__init__(self.message)
        self.hint = hint
        if code is not None:
            self.code = code
        if hint:
            # A traceback shows notes: whoever does not catch the error is told what to do too.
            self.add_note(f"hint: {hint}")

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class InvalidInput(RecollectError):
    """The caller gave something that cannot be taken; nothing was changed."""

    code = "invalid_input"


class NotFound(RecollectError):
    """There is nothing with that id that this caller may see."""

    code = "not_found"


class NotAllowed(RecollectError):
    """The caller's scope does not permit this."""

    code = "not_allowed"


class NotAuthenticated(RecollectError):
    """The server does not know who is asking: a key is missing, wrong, expired or revoked."""

    code = "not_authenticated"


class TooManyRequests(RecollectError):
    """A key has used up what it may ask for now; the request was not begun."""

    code = "too_many_requests"
    retryable = True

    def __init__(
        self, message: str, *, code: str | None = None, hint: str = "", retry_after: float = 1
    ) -> None:
        super().__init__(message, code=code, hint=hint)
        self.retry_after = retry_after


class Conflict(RecollectError):
    """The request contradicts what is stored."""

    code = "conflict"


class StaleVersion(Conflict):
    """Somebody else changed the record in between; reading it again and retrying is safe."""

    code = "stale_version"
    retryable = True
    # The version that the record has now, where that is known.
    current: int | None = None

    def at(self, version: int) -> Self:
        """This error, with the version that the record has now."""
        self.current = version
        return self


class SettingsError(RecollectError):
    """A setting is unknown or has a value that cannot be used."""

    code = "bad_setting"


class StorageError(RecollectError):
    """The database could not do its work; what was acknowledged before is kept."""

    code = "storage_error"


class StorageBusy(StorageError):
    """Another process held the database for too long."""

    code = "storage_busy"
    retryable = True


class Closed(RecollectError):
    """The memory was closed."""

    code = "closed"


class NotAvailable(RecollectError):
    """A part that this call needs is not installed or not configured."""

    code = "not_available"


class Unreachable(RecollectError):
    """The server of a remote memory does not answer; whether a write happened is not known."""

    code = "server_unreachable"
    retryable = True


class ModelError(RecollectError):
    """A language model gave no usable answer; whoever asked goes on without it."""

    code = "model_error"
    # What was spent all the same: a budget that forgot it would be no budget.
    input_tokens: int = 0
    output_tokens: int = 0

    def having_spent(self, input_tokens: int, output_tokens: int) -> Self:
        """This error, with what the failed call cost."""
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens
        return self
