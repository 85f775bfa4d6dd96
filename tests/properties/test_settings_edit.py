"""Whatever a settings file looks like, changing one value changes nothing else in it."""

import tomllib
from itertools import takewhile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollect.cli.settings_edit import with_setting, write_setting
from recollect.errors import SettingsError
from tests.examples import examples

# Other parts of a file, some of which look like the place that is wanted.
_OTHERS = (
    "# a comment with model = 'x' and [embedding] in it",
    "",
    "[recall]",
    "[recall]\nlimit = 7 # seven",
    "[storage]\npath = 'C:\\data'",
    '[notes]\nmodel = "not this one"',
    '[agents.model]\nchildren = [\n  "a", # one\n  "b",\n]',
    "[scope]\nuser = '''\n[embedding]\nmodel = \"in a string\"\n'''",
    '  [ "agents" . x ]  # spaced\nchildren = []',
)
_EMBEDDINGS = (
    "",
    "[embedding]",
    "[embedding] # which model",
    "  [ 'embedding' ]\n  # model = \"commented out\"\n  dimension = 3",
    '[embedding]\nmodel = "old"',
    "[embedding]\ndimension = 3\n\"model\" = 'old' # why it was chosen",
    '[embedding]\nmodel="a \\" quoted \\\\ one"#tight\nbatch_size = 2',
    '[embedding]\nquery_prefix = "model = \'x\'"\nmodel = "old"',
)
# These must stand before the first heading.
_WITHOUT_HEADING = (
    'embedding.model = "old" # dotted',
    "embedding.dimension = 3\nembedding . 'model' = 'old'",
    "embedding.dimension = 3",
    "embedding = { dimension = 3 } # in braces",
    'embedding = { dimension = 3, model = "old" }',
    "embedding = {}",
)
_NAMES = st.one_of(
    st.sampled_from(["local", "none", "folder:/tmp/模型", "folder:C:\\m", "openai:a b", 'a"b', ""]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
)


@st.composite
def _files(draw: st.DrawFn) -> str:
    """The text of a settings file as people write them."""
    unique = st.lists(st.sampled_from(_OTHERS), unique_by=lambda part: part.split("]")[0])
    parts = draw(unique)
    if draw(st.booleans()):
        parts.insert(0, draw(st.sampled_from(_WITHOUT_HEADING)))
    else:
        parts.insert(draw(st.integers(0, len(parts))), draw(st.sampled_from(_EMBEDDINGS)))
    text = "\n".join(parts) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


@given(_files(), _NAMES)
@settings(max_examples=examples(150), deadline=None)
def test_one_value_changes_and_every_other_line_stays(text: str, value: str):
    changed = with_setting(text, "embedding", "model", value)
    before, after = tomllib.loads(text), tomllib.loads(changed)
    assert after["embedding"]["model"] == value
    before.setdefault("embedding", {}).pop("model", None)
    after["embedding"].pop("model")
    assert after == before

    assert with_setting(changed, "embedding", "model", value) == changed
    taken_away = _taken_away(text, changed)
    assert "\n" not in taken_away, "at most a part of one line is another"
    assert "#" not in taken_away, "its comment stays"


def _taken_away(text: str, changed: str) -> str:
    """What of the text is not in the changed one; a missing end of the last line may be added."""
    text, changed = text.rstrip("\r\n"), changed.rstrip("\r\n")
    start = _common(text, changed)
    rest = text[start:]
    return rest[: len(rest) - _common(rest[::-1], changed[start:][::-1])]


def _common(one: str, other: str) -> int:
    """How many characters both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def test_a_file_that_cannot_take_the_value_is_left_as_it_is(tmp_path: Path):
    file = tmp_path / "settings.toml"
    text = 'embedding.model = """on\nseveral lines"""\n'
    file.write_text(text)
    with pytest.raises(SettingsError, match="left as it is") as refused:
        write_setting(file, "embedding", "model", "local")
    assert 'model = "local"' in refused.value.hint
    assert file.read_text() == text


def test_permissions_and_links_stay(tmp_path: Path):
    kept = tmp_path / "dotfiles" / "recollect.toml"
    kept.parent.mkdir()
    kept.write_text("[embedding]\napi_key = 'hush'\n")
    kept.chmod(0o600)
    link = tmp_path / "settings.toml"
    link.symlink_to(kept)
    write_setting(link, "embedding", "model", "local")
    assert link.is_symlink()
    assert kept.read_text() == "[embedding]\nmodel = \"local\"\napi_key = 'hush'\n"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert list(kept.parent.iterdir()) == [kept]


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingsError) as refused:
        write_setting(tmp_path / "file" / "settings.toml", "embedding", "model", "local")
    assert refused.value.code == "settings_not_writable"
