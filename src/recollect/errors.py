"""The errors of Recollect: one tree, each with a code, what happened and what to do."""

from __future__ import annotations

from typing import ClassVar, Final, Self

# Messages are for people, but may quote a whole document.
_MAX_MESSAGE_CHARACTERS: Final = 2_000
_HEAD_CHARACTERS: Final = 1_500


def printable(message: str) -> str:
    """Return a message that can be printed everywhere, without the middle if it is long."""
    if len(message) > _MAX_MESSAGE_CHARACTERS:
        left_out = len(message) - _MAX_MESSAGE_CHARACTERS
        tail = message[_HEAD_CHARACTERS - _MAX_MESSAGE_CHARACTERS :]
        message = f"{message[:_HEAD_CHARACTERS]} … {left_out:,} characters left out … {tail}"
    return message.encode(errors="backslashreplace").decode()


class RecollectError(Exception):
    """An error of Recollect; nothing was changed unless the message says so."""

    code: str = "error"
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, code: str | None = None, hint: str = "") -> None:
        self.message = printable(message)
        super().__init__(self.message)
        self.hint = hint
        if code is not None:
            self.code = code
        if hint:
            # A traceback shows notes, so the hint is visible even if the error is not caught.
            self.add_note(f"hint: {hint}")

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class InvalidInput(RecollectError):
    """The caller passed something invalid; nothing was changed."""

    code = "invalid_input"


class NotFound(RecollectError):
    """Nothing with that id is visible to this caller."""

    code = "not_found"


class NotAllowed(RecollectError):
    """The caller's scope does not permit this."""

    code = "not_allowed"


class NotAuthenticated(RecollectError):
    """The server does not know the caller: the key is missing, wrong, expired or revoked."""

    code = "not_authenticated"


class TooManyRequests(RecollectError):
    """The rate limit of a key is used up; the request was not started."""

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
    """Somebody else changed the record meanwhile; reading it again and retrying is safe."""

    code = "stale_version"
    retryable = True
    # The current version of the record, if known.
    current: int | None = None

    def at(self, version: int) -> Self:
        """Return this error with the current version of the record."""
        self.current = version
        return self


class SettingsError(RecollectError):
    """A setting is unknown or has an invalid value."""

    code = "bad_setting"


class StorageError(RecollectError):
    """The database failed; what was acknowledged before is kept."""

    code = "storage_error"


class StorageBusy(StorageError):
    """Another process held the database for too long."""

    code = "storage_busy"
    retryable = True


class AgentMoved(StorageBusy):
    """The memory of an agent was moved to another store; a retry goes there."""

    code = "agent_moved"


class Closed(RecollectError):
    """The memory was closed."""

    code = "closed"


class NotAvailable(RecollectError):
    """Something that this call needs is not installed or not configured."""

    code = "not_available"


class Unreachable(RecollectError):
    """The server of a remote memory does not answer; whether a write happened is not known."""

    code = "server_unreachable"
    retryable = True


class StoreAway(RecollectError):
    """A store that is derived from the database does not answer; the database goes on without."""

    code = "store_away"
    retryable = True


class ModelError(RecollectError):
    """A language model gave no usable answer; the caller continues without it."""

    code = "model_error"
    # The tokens that the failed call used anyway, since they count towards the budget.
    input_tokens: int = 0
    output_tokens: int = 0

    def having_spent(self, input_tokens: int, output_tokens: int) -> Self:
        """Return this error with the cost of the failed call."""
        self.input_tokens = input_tokens
        self.output_tokens = output_tokens
        return self
