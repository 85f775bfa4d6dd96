"""What people say and write: transcripts, mail threads and documents, read by sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from recollect.language.characters import HAN
from recollect.language.digest.findings import Finding
from recollect.language.digest.lines import Lines
from recollect.language.digest.observer import Observer, Sample
from recollect.language.digest.wording import Wording
from recollect.language.sentences import sentences

_CLOCK: Final = r"\d{1,2}:\d\d(?::\d\d)?"
_SAID: Final = re.compile(
    rf"^\s*(?:\[?(?:\d{{4}}-\d\d-\d\d[ T])?{_CLOCK}\]?[\s-]*)?"
    rf"\*{{0,2}}(?P<name>[A-Z][\w.'-]*(?: [A-Z][\w.'-]*){{0,2}}(?: \d(?!\d))?"
    rf"|[{HAN}·]{{2,6}}|[a-z]{{2,10}})"
    rf"(?:\s*[(（]\s*{_CLOCK}\s*[)）])?\s*[:：]\*{{0,2}}\s?(?P<words>\S.*)$"
)
_TIMED: Final = re.compile(_CLOCK)
_MAX_SPEAKERS: Final = 40
_SHARE: Final = 0.6

_FROM: Final = re.compile(r"^(?:From|发件人)[:：]\s*\"?([^<\"\n]+?)\"?\s*(?:<.*>)?$")
_HEADER: Final = re.compile(
    r"^(?:From|To|Cc|Bcc|Date|Sent|Message-ID|In-Reply-To|References|Reply-To|Content-\w+|"
    r"MIME-Version|X-[\w-]+|发件人|收件人|抄送|日期|时间|发送时间)[:：]",
)
_SUBJECT: Final = re.compile(r"^(?:Subject|主题)[:：]\s*(?:(?:Re|RE|Fwd?|回复|转发)[:：]\s*)*(.+)$")
_FIRST_LINES: Final = 20
_QUOTED: Final = re.compile(r"^\s*>|^On .{5,80} wrote:$|^---.*(?:Original|原始邮件)|在.{5,60}写道")
# The ends of lines that do not go on in the next.
_ENDS: Final = frozenset(".!?。！？:：;；|`>")
_BEGINS: Final = re.compile(r"^\s*(?:[-*•+>#|]|\d{1,3}[.)、]|```|:::|<|\[[^\]]+\]:|\$ )")
_MIN_BROKEN: Final = 45
_MAX_PARAGRAPH: Final = 1_500
_OF_PROSE: Final = frozenset(" .,;:!?'\"()-。，；：！？、“”（）")


class Transcript(Observer):
    """Reads who said what."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._speakers: Counter[str] = Counter()

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether most lines are said by a few speakers."""
        said = [found for line in sample.lines if (found := _SAID.match(line))]
        speakers = {found["name"] for found in said}
        timed = sum(_TIMED.search(line, 0, 40) is not None for line in sample.lines)
        return (
            len(said) >= max(5, _SHARE * len(sample.lines))
            and 2 <= len(speakers) <= max(4, len(said) // 4)
            and (timed >= len(said) // 2 or len(speakers) <= 6)
        )

    def read(self, line: str, number: int) -> bool:
        """Read what somebody says, by sentences; the same words count once, whoever says them."""
        found = _SAID.match(line)
        if found is None:
            return False
        name, words = found["name"], found["words"]
        if name in self._speakers or len(self._speakers) < _MAX_SPEAKERS:
            self._speakers[name] += 1
        self._lines.read(words.strip(), number, f"{name}: {words.strip()}")
        return True

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield who speaks."""
        names = [name for name, count in self._speakers.most_common() if count > 1]
        text = say.say("speakers", names=say.names(names, 10))
        yield Finding(text=text, weight=9.0, kind="speakers")


class Mails(Observer):
    """Reads a thread of mails, without what they quote."""

    def __init__(self) -> None:
        self._senders: Counter[str] = Counter()
        self._subjects: Counter[str] = Counter()

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether there are senders and subjects."""
        return any(_FROM.match(line) for line in sample.head[:_FIRST_LINES]) and any(
            _SUBJECT.match(line) for line in sample.head[:_FIRST_LINES]
        )

    def read(self, line: str, number: int) -> bool:
        """Read the next line; return whether it is a header or quoted."""
        if found := _FROM.match(line):
            self._senders[found[1].strip()] += 1
            return True
        if found := _SUBJECT.match(line):
            self._subjects[found[1].strip()] += 1
            return True
        return _HEADER.match(line) is not None or _QUOTED.match(line) is not None

    def findings(self, say: Wording) -> Iterator[Finding]:
        """Yield how many mails there are, about what and from whom."""
        total = sum(self._senders.values())
        subjects = "; ".join(name for name, _ in self._subjects.most_common(3))
        senders = say.counts(self._senders.most_common(), 8)
        text = say.say("mails", count=total, subjects=subjects, senders=senders)
        yield Finding(text=text, weight=16.0, kind="mails")


class Prose:
    """Joins lines that a paragraph was broken into, and reads it by sentences."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._pending = ""
        self._begun = 0
        self._is_code = False

    @classmethod
    def recognises(cls, sample: Sample) -> bool:
        """Return whether half of the lines are mostly words."""
        lines = sample.lines
        return sum(_is_wordy(line) for line in lines) >= 0.5 * len(lines)

    def read(self, line: str, number: int) -> None:
        """Read the next line."""
        text = line.strip()
        if text.startswith("```"):
            self.end()
            self._is_code = not self._is_code
            return
        if not text:
            self.end()
            return
        if self._is_code:
            self._lines.read(text, number)
            return
        if self._pending and (
            _BEGINS.match(line)
            or len(self._pending) > _MAX_PARAGRAPH
            or len(self._last) < _MIN_BROKEN
            or self._last[-1] in _ENDS
        ):
            self.end()
        self._begun = self._begun if self._pending else number
        gap = "" if not self._pending or _is_wide(self._pending[-1], text[0]) else " "
        self._pending += gap + text
        self._last = text

    def end(self) -> None:
        """Read the paragraph that is over."""
        if self._pending:
            pending, self._pending = self._pending, ""
            found = sentences(pending) or [pending]
            for sentence in found:
                self._lines.read(sentence, self._begun)


def _is_wordy(line: str) -> bool:
    text = line.strip()[:200]
    marks = sum(not (letter.isalpha() or letter in _OF_PROSE) for letter in text)
    return marks <= 0.08 * len(text) and (len(text.split()) >= 4 or not text.isascii())


def _is_wide(before: str, after: str) -> bool:
    return not before.isascii() and not after.isascii()
