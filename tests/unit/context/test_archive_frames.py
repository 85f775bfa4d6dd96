"""A part of a large archived text is read without the rest, and is what slicing would give."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.context.archives import frames
from recollect.context.archives.frames import (
    compressed,
    decompressed,
    extract_of,
    index_in,
    text_in,
)
from recollect.domain.archive import ContentRange
from recollect.domain.compression import ZstdError

_LOSSLESS = "surrogatepass"
_TEXTS = st.text(st.sampled_from("ab\n中文🦓\ud800"), max_size=400)


@pytest.fixture(autouse=True, scope="module")
def _small_frames():
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(frames, "FRAME_BYTES", 16)
        yield


@given(_TEXTS, st.sampled_from(["lines", "characters"]), st.integers(0, 90), st.integers(0, 90))
def test_a_range_is_the_same_as_of_the_whole_text(text, unit, first, length):
    wanted = ContentRange(unit=unit, first=first, last=first + length)
    data = text.encode("utf-8", _LOSSLESS)
    stored = compressed(data, is_text=True)
    assert decompressed(stored, len(data)) == data
    found = index_in(stored)
    if len(data) <= 32:
        assert not found
        return
    assert sum(frame.size for frame in found) == len(data)
    extract = extract_of(found, wanted)
    part = "" if extract is None else text_in(stored[extract.start : extract.end], extract, wanted)
    assert part == wanted.of(text)
    if extract is not None and unit == "characters" and length <= 4:
        assert extract.end - extract.start < sum(frame.stored for frame in found) or len(found) < 4


@given(st.binary(max_size=300))
def test_what_is_no_text_is_stored_in_one_piece(data):
    stored = compressed(data)
    assert decompressed(stored, len(data)) == data
    assert not index_in(stored)


def test_damage_in_a_part_is_noticed():
    text = "".join(f"line {number}\n" for number in range(50))
    stored = compressed(text.encode(), is_text=True)
    wanted = ContentRange(unit="lines", first=20, last=21)
    extract = extract_of(index_in(stored), wanted)
    assert extract is not None
    part = bytearray(stored[extract.start : extract.end])
    part[len(part) // 2] ^= 0xFF
    with pytest.raises(ZstdError):
        text_in(bytes(part), extract, wanted)
