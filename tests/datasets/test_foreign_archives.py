"""Names in archives: what programs wrote that did not know Unicode is read right, or doubtful."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contexts import PlainContext
from tests.datasets.foreign_archives import ForeignArchive, archives, unicode_path, write_zip
from tests.datasets.foreign_layout import PNG, counts_of, same_counts
from workbench.core.specs import LoadedData
from workbench.datasets import all_datasets
from workbench.pictures.encodings import ENCODINGS, find_encoding, has_inner_capital

ALL = list(archives())
SAMPLE = ALL[::4]
"""A reader is a process of its own, which takes its time; the proof has all."""


def load(path: Path, kind: str = "zip", **params: object) -> LoadedData:
    context = PlainContext(path.parent / "cache")
    return all_datasets()[kind].load(context, {"path": str(path), **params})


def outcome(path: Path, archive: ForeignArchive) -> str:
    """What comes of an archive."""
    archive.write(path)
    data = load(path, archive.kind)
    if same_counts(counts_of(data), archive.truth):
        return "right"
    (names,) = (each for each in data.inferences if each.key == "names")
    for option in names.options if names.is_doubtful else ():
        if same_counts(counts_of(load(path, archive.kind, names=option.value)), archive.truth):
            return "changeable"
    return "wrong"


@pytest.mark.parametrize("archive", SAMPLE, ids=lambda archive: archive.name)
def test_names_are_read_right_or_can_be_changed(tmp_path, archive):
    assert outcome(tmp_path / archive.name, archive) in archive.outcomes


@pytest.mark.parametrize("archive", ALL, ids=lambda archive: archive.name)
def test_the_encoding_of_names_is_found(archive):
    """As above, but only what decides it."""
    encoding = archive.name.split(" ")[1].split(".")[0]
    names = [f"fotos/{name}/1.png".encode(encoding) for name in archive.truth]
    found = find_encoding(names, is_dos=archive.kind == "zip")
    meant = [name.decode(encoding) for name in names]
    read = {
        key: [name.decode(key, "replace") for name in names] for key in (found.key, *found.others)
    }
    assert meant in read.values()
    if archive.outcomes == {"right"}:
        assert (found.key, found.others) == ("utf-8", ())


def test_what_was_read_is_said_and_can_be_set(tmp_path):
    path = tmp_path / "a.zip"
    write_zip(path, {f"{name}/{n}.png".encode("gb18030"): PNG for name in ("玫瑰花", "猫", "蒲公英")
                     for n in range(2)})  # fmt: skip
    data = load(path)
    (names,) = data.inferences[:1]
    assert names.sentence == (
        "The names of files and folders: GBK, simplified Chinese (6 names do not say; so it is "
        "“玫瑰花”)."
    )
    assert set(data.class_names) == {"玫瑰花", "猫", "蒲公英"}
    other = load(path, names="cp437")
    assert set(other.class_names) == {
        name.encode("gb18030").decode("cp437") for name in ("玫瑰花", "猫", "蒲公英")
    }
    (told,) = (each for each in other.inferences if each.key == "names")
    assert told.is_told
    assert told.value == ENCODINGS["cp437"]
    assert [option.value for option in told.options] == ["auto"]
    assert set(load(path).class_names) == {"玫瑰花", "猫", "蒲公英"}


def test_the_unicode_name_of_info_zip_counts_first(tmp_path):
    path = tmp_path / "a.zip"
    files = {b"Bl\x84tter/1.png": PNG, b"Bl\x84tter/2.png": PNG}
    write_zip(path, {**files, b"rose/1.png": PNG}, extra=unicode_path("Käse"))
    data = load(path)
    assert set(data.class_names) == {"Käse", "rose"}
    assert [each.key for each in data.inferences if each.key == "names"] == []
    # Another name has been given since: the field is not about it.
    other = bytearray(path.read_bytes())
    path.write_bytes(bytes(other).replace(b"Bl\x84tter/", b"Fr\x81chte/"))
    assert set(load(path).class_names) == {"Früchte", "rose"}


def test_files_whose_names_read_the_same_are_all_kept(tmp_path):
    path = tmp_path / "a.zip"
    names = [b"rose/\x84.png", b"rose/\xe4.png", b"tulip/1.png"]
    write_zip(path, {name: PNG + name for name in names})
    data = load(path, names="cp1252")
    assert len(data.train) == 3
    # Bytes that the encoding does not have read the same.
    write_zip(path, {name: PNG + name for name in (b"a/\x81.png", b"a/\x8d.png", b"b/1.png")})
    data = load(path, names="cp1252")
    assert [Path(file).name for file in data.train.paths] == [
        "\ufffd (2).png",
        "\ufffd.png",
        "1.png",
    ]


def test_few_letters_are_doubtful():
    found = find_encoding(["猫/1.png".encode("gb18030")], is_dos=True)  # also "è" in UTF-8
    assert {found.key, *found.others} >= {"utf-8", "gb18030"}
    assert find_encoding(["crème/1.png".encode()], is_dos=True).key == "utf-8"


def test_bytes_that_are_no_text_are_shown_one_by_one():
    found = find_encoding([b"\x84\x01/1.png"], is_dos=True)
    assert (found.key, found.others, found.example) == ("cp437", (), "ä\x01")


def test_a_capital_inside_of_a_word_is_doubtful(tmp_path):
    names = ("ch\u00eane", "h\u00eatre", "\u00e9rable")
    path = tmp_path / "trees.zip"
    write_zip(path, {f"{name}/1.png".encode("mac_roman"): PNG for name in names})
    assert set(load(path).class_names) == {*names}
    write_zip(path, {f"{name}/1.png".encode(): PNG for name in ("ch\u00c9ne", "h\u00eatre")})
    (said,) = (each for each in load(path).inferences if each.key == "names")
    assert "A capital inside of a word is unusual." in said.sentence
    assert has_inner_capital("ch\u00c9ne")
    assert not has_inner_capital("\u00c9rable McIntosh")
