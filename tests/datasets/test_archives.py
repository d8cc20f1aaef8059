"""Archives of class folders: unpacked once, and every harmful one refused."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contexts import CancelledForTest, PlainContext
from workbench.core.specs import LoadedData
from workbench.datasets import _archives, all_datasets
from workbench.errors import DatasetError
from workbench.pictures.png import png_bytes

PNG = png_bytes(np.zeros((2, 2, 3), np.uint8))
FILES = {
    "photos/rose/1.png": PNG,
    "photos/rose/2.png": PNG + b" ",
    "photos/tulip/x.dat": PNG,
    "photos/tulip/notes.txt": b"about",
    "photos/tulip/._x.png": b"\0\5\x16\7",
    "__MACOSX/photos/rose/1.png": PNG,
    "photos/.DS_Store": b"x",
    "LICENSE.txt": b"free",
}
TAR_MODES = {"a.tar": "w", "a.tar.gz": "w:gz", "a.tar.xz": "w:xz", "a.tar.bz2": "w:bz2"}


def make_zip(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def make_tar(path: Path, files: dict[str, bytes], *members: tarfile.TarInfo) -> Path:
    with tarfile.open(path, TAR_MODES.get(path.name, "w")) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for member in members:
            archive.addfile(member)
    return path


def load(path: Path, ctx: PlainContext) -> LoadedData:
    key = "zip" if path.suffix == ".zip" else "tar"
    return all_datasets()[key].load(ctx, {"path": str(path), "fit": "crop"})


@pytest.fixture
def ctx(tmp_path) -> PlainContext:
    return PlainContext(tmp_path / "cache")


def files_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def entries(ctx: PlainContext) -> list[Path]:
    return [path for path in (Path(ctx.cache_folder) / "archives").iterdir() if path.is_dir()]


@pytest.mark.parametrize("name", ["a.zip", *TAR_MODES])
def test_class_folders_are_unpacked_once(tmp_path, ctx, name):
    make = make_zip if name.endswith("zip") else make_tar
    path = make(tmp_path / name, FILES)
    data = load(path, ctx)
    assert data.class_names == ("rose", "tulip")
    assert data.train.labels.tolist() == [0, 0, 1]
    assert [Path(each).name for each in data.train.paths] == ["1.png", "2.png", "x.dat"]
    assert Path(data.train.paths[1]).read_bytes() == PNG + b" "
    assert data.notes == ("Class “tulip” has only one image file.",)
    (others,) = data.inferences
    assert others.value == "2, not used: 2 .txt"
    assert data.bad_files == ()
    (entry,) = entries(ctx)
    assert files_below(entry / "files") == [
        "photos/rose/1.png", "photos/rose/2.png", "photos/tulip/x.dat",
    ]  # fmt: skip
    assert any("Unpacking" in words for words, _ in ctx.reported)
    ctx.reported.clear()
    assert load(path, ctx).train.paths == data.train.paths
    assert [words for words, _ in ctx.reported] == ["Listing the images"]


def test_the_same_archive_at_another_place_is_not_unpacked_again(tmp_path, ctx):
    first = load(make_zip(tmp_path / "a.zip", FILES), ctx)
    (tmp_path / "b.zip").write_bytes((tmp_path / "a.zip").read_bytes())
    assert load(tmp_path / "b.zip", ctx).train.paths == first.train.paths
    make_zip(tmp_path / "b.zip", {**FILES, "photos/rose/3.png": PNG})
    assert len(load(tmp_path / "b.zip", ctx).train) == 4
    assert len(entries(ctx)) == 2


@pytest.mark.parametrize("damage", ["file gone", "file cut", "no facts", "facts"])
def test_an_entry_of_which_something_has_gone_is_unpacked_again(tmp_path, ctx, damage):
    path = make_zip(tmp_path / "a.zip", FILES)
    first = Path(load(path, ctx).train.paths[0])
    (entry,) = entries(ctx)
    if damage == "file gone":
        first.unlink()
    elif damage == "file cut":
        first.write_bytes(b"")
    elif damage == "no facts":
        (entry / "facts.json").unlink()
    else:
        (entry / "facts.json").write_text("{}")
    assert Path(load(path, ctx).train.paths[0]).read_bytes() == PNG


def test_parts_and_nested_folders_as_of_a_folder(tmp_path, ctx):
    files = {f"x/{part}/{name}/1.png": PNG for part in ("train", "test") for name in "ab"}
    data = load(make_zip(tmp_path / "a.zip", files), ctx)
    assert [len(part) for part in data.parts] == [2, 2]


def test_names_of_windows_and_odd_ones(tmp_path, ctx):
    files = {
        "p\\Löwe: der?\\1.png": PNG,
        "p\\<b>*|\\CON.png": PNG,
        "./p//<b>*|/./2.png": PNG,
        "p/<b>*|/\x1b[31m.png": PNG,
    }
    data = load(make_zip(tmp_path / "a.zip", files), ctx)
    assert data.class_names == ("<b>*|", "Löwe: der?")
    assert len(data.train) == 4


# harmful ones ----------------------------------------------------------------------------


def outside(tmp_path: Path, ctx: PlainContext) -> list[str]:
    """Files that are neither the archive nor in the cache."""
    return [name for name in files_below(tmp_path) if not name.startswith(("cache/", "in/"))]


@pytest.mark.parametrize(
    "name", ["../evil.png", "/evil.png", "a/../../evil.png", "..\\evil.png", "C:\\evil.png",
             "a/" + "n" * 300 + ".png", "/".join("d" * 60) + ".png"],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["a.zip", "a.tar.gz"])
def test_names_that_lead_elsewhere_refuse_the_archive(tmp_path, ctx, name, kind):
    (tmp_path / "in").mkdir()
    make = make_zip if kind == "a.zip" else make_tar
    path = make(tmp_path / "in" / kind, {**FILES, name: PNG})
    with pytest.raises(DatasetError, match="cannot be unpacked") as caught:
        load(path, ctx)
    assert caught.value.where == str(path)
    assert outside(tmp_path, ctx) == []
    assert entries(ctx) == []


def test_links_and_devices_are_left_out_and_noted(tmp_path, ctx):
    (tmp_path / "in").mkdir()
    members = []
    for name, kind, target in [
        ("photos/rose/link.png", tarfile.SYMTYPE, "/etc/hostname"),
        ("photos/out", tarfile.SYMTYPE, str(tmp_path)),
        ("photos/rose/hard.png", tarfile.LNKTYPE, "/etc/hostname"),
        ("photos/rose/pipe.png", tarfile.FIFOTYPE, ""),
        ("photos/rose/null.png", tarfile.CHRTYPE, ""),
    ]:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, target
        members.append(info)
    path = make_tar(tmp_path / "in" / "a.tar", {**FILES, "photos/out/evil.png": PNG}, *members)
    data = load(path, ctx)
    assert data.class_names == ("out", "rose", "tulip")
    assert "Not used of a.tar: 5 links and devices." in data.notes
    assert outside(tmp_path, ctx) == []
    assert not any(path.is_symlink() for path in Path(ctx.cache_folder).rglob("*"))


def test_an_archive_of_links_alone_names_them_in_its_error(tmp_path, ctx):
    links = [tarfile.TarInfo(f"{name}/1.png") for name in ("rose", "tulip")]
    for link in links:
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
    path = make_tar(tmp_path / "a.tar", {}, *links)
    with pytest.raises(DatasetError, match="no class folders") as caught:
        load(path, ctx)
    assert "Not used of a.tar: 2 links and devices" in caught.value.received


def test_links_of_a_zip_are_left_out(tmp_path, ctx):
    path = make_zip(tmp_path / "a.zip", FILES)
    with zipfile.ZipFile(path, "a") as archive:
        link = zipfile.ZipInfo("photos/rose/link.png")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        archive.writestr(link, "/etc/hostname")
    data = load(path, ctx)
    assert len(data.train) == 3
    assert "1 links" in data.notes[0]


@pytest.mark.parametrize("kind", ["a.zip", "a.tar.gz", "a.tar.xz"])
def test_bombs_are_refused_by_their_size(tmp_path, ctx, kind):
    make = make_zip if kind == "a.zip" else make_tar
    path = make(tmp_path / kind, {"a/1.png": PNG, "b/1.png": bytes(400 * 2**20)})
    assert path.stat().st_size < 2**20
    with pytest.raises(DatasetError, match="far too much"):
        load(path, ctx)
    assert entries(ctx) == []


@pytest.mark.parametrize("kind", ["a.zip", "a.tar.gz"])
def test_bombs_of_many_files_are_refused(tmp_path, ctx, monkeypatch, kind):
    monkeypatch.setattr(_archives, "_SLACK_FILES", 100)
    monkeypatch.setattr(_archives, "_BYTES_PER_FILE", 1000)
    make = make_zip if kind == "a.zip" else make_tar
    path = make(tmp_path / kind, {f"a/{n}.png": b"" for n in range(1000)})
    with pytest.raises(DatasetError, match="holds more than"):
        load(path, ctx)


def test_what_a_header_claims_is_not_believed(tmp_path, ctx):
    info = tarfile.TarInfo("a/1.png")
    info.size = 1 << 40
    (tmp_path / "a.tar").write_bytes(info.tobuf(tarfile.GNU_FORMAT) + PNG)
    with pytest.raises(DatasetError, match="cannot be unpacked"):
        load(tmp_path / "a.tar", ctx)


def test_a_header_that_needs_all_memory_ends_its_reader_alone(tmp_path, ctx, monkeypatch):
    monkeypatch.setattr(_archives, "_MEMORY_BYTES", 256 << 20)  # sooner filled
    long_name = tarfile.TarInfo("././@LongLink")
    long_name.type, long_name.size = tarfile.GNUTYPE_LONGNAME, 512 << 20
    path = tmp_path / "a.tar"
    with path.open("wb") as file:
        file.write(long_name.tobuf(tarfile.GNU_FORMAT))
        file.truncate(576 << 20)  # a hole: takes no room
    with pytest.raises(DatasetError, match="cannot be unpacked") as caught:
        load(path, ctx)
    assert "memory" in str(caught.value).lower(), str(caught.value)


def test_a_damaged_file_in_a_zip_is_named_and_the_others_are_used(tmp_path, ctx):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {**FILES, "photos/rose/broken.png": b"0123456789"}.items():
            archive.writestr(name, data)
    path.write_bytes(path.read_bytes().replace(b"0123456789", b"9876543210"))
    data = load(path, ctx)
    assert len(data.train) == 3
    ((name, reason),) = data.bad_files
    assert name == f"{path}: photos/rose/broken.png"
    assert "damaged in the archive" in reason
    assert load(path, ctx).bad_files == data.bad_files


def test_an_encrypted_zip_says_so(tmp_path, ctx):
    path = make_zip(tmp_path / "a.zip", FILES)
    data = bytearray(path.read_bytes())
    place = data.index(b"PK\x01\x02") + 8
    data[place] |= 1
    path.write_bytes(data)
    with pytest.raises(DatasetError, match="encrypted"):
        load(path, ctx)


@pytest.mark.parametrize(
    ("data", "words"),
    [(b"", "cut off"), (b"no archive at all" * 99, "cut off"), (None, "cut off")],
)
@pytest.mark.parametrize("kind", ["a.zip", "a.tar.gz"])
def test_damaged_archives(tmp_path, ctx, kind, data, words):
    make = make_zip if kind == "a.zip" else make_tar
    path = make(tmp_path / kind, {**FILES, "photos/big.png": PNG + os.urandom(99_999)})
    path.write_bytes(path.read_bytes()[:60_000] if data is None else data)
    with pytest.raises(DatasetError, match=words):
        load(path, ctx)
    assert entries(ctx) == []


def test_a_name_that_is_file_and_folder(tmp_path, ctx):
    path = make_zip(tmp_path / "a.zip", {"a/1.png": PNG, "a/1.png/2.png": PNG})
    with pytest.raises(DatasetError, match="is in a file"):
        load(path, ctx)


def test_repeated_names_keep_the_first(tmp_path, ctx):
    path = make_tar(tmp_path / "a.tar", FILES)
    with tarfile.open(path, "a") as archive:
        info = tarfile.TarInfo("photos/rose/1.png")
        archive.addfile(info)
    data = load(path, ctx)
    assert Path(data.train.paths[0]).read_bytes() == PNG
    assert "1 files of a name that was there already" in data.notes[0]


def test_archives_without_classes(tmp_path, ctx):
    for files, words in [({}, "no class folders"), ({"1.png": PNG}, "no class folders"),
                         ({"a/1.png": PNG}, "only one class")]:  # fmt: skip
        with pytest.raises(DatasetError, match=words) as caught:
            load(make_zip(tmp_path / "a.zip", files), ctx)
        assert caught.value.where == str(tmp_path / "a.zip")


def test_canceling_leaves_nothing(tmp_path):
    path = make_zip(tmp_path / "a.zip", FILES)
    for calls in (0, 1, 2):
        ctx = PlainContext(tmp_path / f"cache{calls}", cancel_after=calls)
        with pytest.raises(CancelledForTest):
            load(path, ctx)
        assert entries(ctx) == []


def test_a_full_disk_is_known_before_it_is_full(tmp_path, ctx, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(DatasetError, match="Not enough disk space"):
        load(make_zip(tmp_path / "a.zip", FILES), ctx)
    assert entries(ctx) == []


def test_a_link_in_the_place_of_the_cache_is_refused(tmp_path, ctx):
    (tmp_path / "elsewhere").mkdir()
    Path(ctx.cache_folder).mkdir()
    (Path(ctx.cache_folder) / "archives").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Exception, match="is a link"):
        load(make_zip(tmp_path / "a.zip", FILES), ctx)
    assert list((tmp_path / "elsewhere").iterdir()) == []


@given(places=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1))
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@pytest.mark.parametrize("kind", ["a.zip", "a.tar"])
def test_altered_archives_are_read_or_refused(tmp_path, ctx, kind, places):
    make = make_zip if kind == "a.zip" else make_tar
    path = make(tmp_path / kind, FILES)
    data = bytearray(path.read_bytes())
    for place, value in places:
        data[place % len(data)] = value
    path.write_bytes(data)
    try:
        loaded = load(path, ctx)
    except DatasetError as error:
        assert error.what  # noqa: PT017 - either way is right
    else:
        root = str(Path(ctx.cache_folder) / "archives")
        assert all(os.path.realpath(each).startswith(root) for each in loaded.train.paths)
