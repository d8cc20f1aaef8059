"""Images sorted into class folders: planned, done, taken back; nothing foreign is touched."""

from __future__ import annotations

import errno
import os
import resource
from pathlib import Path

import pytest

from tests.pictures.folders import tree, without_undo
from tests.sealed_sorting import carry_out, make_plan, place, read_undo, undo
from workbench.errors import InputError, LinkFoundError, SaveError, UsageError
from workbench.pictures.sorting import plan as planning
from workbench.pictures.sorting.plan import folder_name
from workbench.pictures.sorting.words import (
    plan_words,
    sorted_words,
    undo_question,
    undone_words,
)

NUL = r"\u0000"
HEADER = '{"workbench_undo":1,"is_move":true}\n'


def image(target: str) -> str:
    """A line of an undo file."""
    return f'{{"type":"image","source":"/x","target":"{target}","num_bytes":1,"mtime_ns":1}}'


@pytest.fixture
def photos(tmp_path):
    """Images of two folders, two of them with the same name."""
    for name in ("in/a.jpg", "in/b.jpg", "in/deep/a.jpg", "in/bad.jpg"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"image {name}".encode())
        os.utime(path, (1e9, 1e9))
    return tmp_path / "in"


def answers(photos):
    labels = {"a.jpg": "rose", "b.jpg": "lily", "deep/a.jpg": "rose", "bad.jpg": ""}
    return [(str(photos / name), label) for name, label in labels.items()]


def test_a_plan_counts_and_changes_nothing(photos, tmp_path):
    before = tree(tmp_path)
    plan = make_plan([*answers(photos), *answers(photos)[:1]], tmp_path / "out")
    assert plan.counts() == {"lily": 1, "rose": 2}
    assert [each.name for each in plan.placements] == ["a.jpg", "b.jpg", "a (2).jpg"]
    assert plan.num_renamed == 1
    assert plan.reasons() == {"no predicted class": 1, "listed before": 1}
    assert plan.num_bytes == sum(len(data) for n, data in before.items() if "bad" not in n)
    assert tree(tmp_path) == before
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("is_move", [False, True])
def test_what_was_done_is_taken_back_whole(photos, tmp_path, is_move):
    before, out = tree(tmp_path), tmp_path / "out"
    done = carry_out(make_plan(answers(photos), out), is_move=is_move)
    assert (done.num_done, done.failed) == (3, ())
    assert without_undo(tree(out)) == {
        "lily/b.jpg": b"image in/b.jpg",
        "rose/a (2).jpg": b"image in/deep/a.jpg",
        "rose/a.jpg": b"image in/a.jpg",
    }
    assert (out / "rose" / "a.jpg").stat().st_mtime == 1e9
    assert set(tree(photos)) == ({"bad.jpg"} if is_move else set(before_names(before)))
    undone = undo(read_undo(done.undo_file))
    assert (undone.num_done, undone.kept) == (3, ())
    assert tree(tmp_path) == before
    assert list(out.iterdir()) == []
    assert (photos / "a.jpg").stat().st_mtime == 1e9


def before_names(before):
    return [name.removeprefix("in/") for name in before]


@pytest.mark.parametrize("is_move", [False, True])
def test_what_is_there_is_never_replaced(photos, tmp_path, is_move):
    rose = tmp_path / "out" / "rose"
    rose.mkdir(parents=True)
    (rose / "A.JPG").write_bytes(b"foreign")
    (rose / "a (2).jpg").write_bytes(b"foreign, too")
    done = carry_out(make_plan(answers(photos), tmp_path / "out"), is_move=is_move)
    assert (rose / "A.JPG").read_bytes() == b"foreign"
    assert (rose / "a (2).jpg").read_bytes() == b"foreign, too"
    assert {"a (3).jpg", "a (4).jpg"} < {each.name for each in rose.iterdir()}
    undo(read_undo(done.undo_file))
    assert tree(tmp_path / "out") == {
        "rose/A.JPG": b"foreign",
        "rose/a (2).jpg": b"foreign, too",
    }


@pytest.mark.parametrize("is_move", [False, True])
def test_a_file_that_appears_after_the_plan_is_not_replaced(photos, tmp_path, is_move):
    plan = make_plan(answers(photos), tmp_path / "out")
    (tmp_path / "out" / "lily").mkdir(parents=True)
    (tmp_path / "out" / "lily" / "b.jpg").write_bytes(b"foreign")
    (photos / "a.jpg").unlink()
    done = carry_out(plan, is_move=is_move)
    assert done.num_done == 1
    assert [Path(file).name for file, _ in done.failed] == ["a.jpg", "b.jpg"]
    assert (tmp_path / "out" / "lily" / "b.jpg").read_bytes() == b"foreign"
    assert (photos / "b.jpg").exists()
    undone = undo(read_undo(done.undo_file))
    assert undone.num_done == 1
    assert (tmp_path / "out" / "lily" / "b.jpg").read_bytes() == b"foreign"


@pytest.mark.parametrize("is_move", [False, True])
@pytest.mark.parametrize("change", ["size", "time"])
def test_a_file_changed_after_the_plan_stays(photos, tmp_path, is_move, change):
    plan = make_plan(answers(photos), tmp_path / "out")
    if change == "size":
        (photos / "b.jpg").write_bytes(b"edited to something else")
    os.utime(photos / "b.jpg", (1e9 + (change == "time"),) * 2)
    done = carry_out(plan, is_move=is_move)
    assert done.failed == ((str(photos / "b.jpg"), "was changed meanwhile"),)
    assert (photos / "b.jpg").exists()
    assert not (tmp_path / "out" / "lily" / "b.jpg").exists()


def test_equal_names_are_numbered_without_trying_each_again(tmp_path, monkeypatch):
    files = [tmp_path / "in" / str(number) / "a.jpg" for number in range(60)]
    for file in files:
        file.parent.mkdir(parents=True)
        file.write_bytes(b"x")
    taken = CountingSet()
    monkeypatch.setattr(planning._Planning, "_taken_in", lambda *_: taken)
    plan = make_plan([(str(file), "rose") for file in files], tmp_path / "out")
    assert {each.name for each in plan.placements} == {
        "a.jpg",
        *(f"a ({number}).jpg" for number in range(2, 61)),
    }
    assert taken.num_looks < 5 * len(files)


class CountingSet(set):
    """Counts how often it is looked into."""

    num_looks = 0

    def __contains__(self, value):
        self.num_looks += 1
        return super().__contains__(value)


def test_a_repeated_copy_adds_nothing(photos, tmp_path):
    carry_out(make_plan(answers(photos)[:2], tmp_path / "out"), is_move=False)
    again = make_plan(answers(photos)[:2], tmp_path / "out")
    assert again.placements == ()
    assert again.reasons() == {"a copy is already in its class folder": 2}
    of_itself = make_plan([(str(tmp_path / "out/rose/a.jpg"), "rose")], tmp_path / "out")
    assert of_itself.reasons() == {"already in its class folder": 1}


@pytest.mark.parametrize("is_move", [False, True])
def test_what_was_changed_since_is_left_alone(photos, tmp_path, is_move):
    done = carry_out(make_plan(answers(photos), tmp_path / "out"), is_move=is_move)
    (tmp_path / "out" / "rose" / "a.jpg").write_bytes(b"edited")
    (tmp_path / "out" / "lily" / "b.jpg").unlink()
    (photos / "b.jpg").unlink(missing_ok=True)
    undone = undo(read_undo(done.undo_file))
    assert undone.num_done == 1
    reasons = {Path(file).name: reason for file, reason in undone.kept}
    assert reasons == {"a.jpg": "was changed", "b.jpg": "is not there any more"}
    assert (tmp_path / "out" / "rose" / "a.jpg").read_bytes() == b"edited"
    assert done.undo_file.exists()  # it can be repeated


def test_undo_puts_nothing_over_a_new_file_and_deletes_no_only_copy(photos, tmp_path):
    moved = carry_out(make_plan(answers(photos)[:1], tmp_path / "moved"), is_move=True)
    (photos / "a.jpg").write_bytes(b"new")
    assert undo(read_undo(moved.undo_file)).kept[0][1] == "another file is where it was"
    assert (photos / "a.jpg").read_bytes() == b"new"
    copied = carry_out(make_plan(answers(photos)[1:2], tmp_path / "copied"), is_move=False)
    (photos / "b.jpg").unlink()
    assert undo(read_undo(copied.undo_file)).kept[0][1] == "its original is not there any more"
    assert (tmp_path / "copied" / "lily" / "b.jpg").exists()


def test_to_another_file_system_it_is_copied_then_removed(photos, tmp_path, monkeypatch):
    def no_link(*_args, **_kw):
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    before = tree(tmp_path)
    monkeypatch.setattr(place.os, "link", no_link)
    done = carry_out(make_plan(answers(photos), tmp_path / "out"), is_move=True)
    assert done.num_done == 3
    assert set(tree(photos)) == {"bad.jpg"}
    undo(read_undo(done.undo_file))
    assert tree(tmp_path) == before


def test_links_are_not_moved_and_not_written_through(photos, tmp_path):
    (photos / "link.jpg").symlink_to(photos / "a.jpg")
    plan = make_plan([(str(photos / "link.jpg"), "rose")], tmp_path / "out")
    assert carry_out(plan, is_move=True).failed[0][1] == "is a link"
    assert (photos / "link.jpg").is_symlink()
    (tmp_path / "out" / "lily").symlink_to(photos)
    with pytest.raises(LinkFoundError):
        make_plan(answers(photos), tmp_path / "out")


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("rose", "rose"),
        ("../../etc", "__.._etc"),
        ("..", "_"),
        (".hidden", "_hidden"),
        ("a/b\\c", "a_b_c"),
        ("con", "con_"),
        ("x" * 300, "x" * 100),
        ("end. ", "end"),
        ("Löwenzahn", "Löwenzahn"),
        ("Lo\u0308wenzahn", "Löwenzahn"),
        ("ca\u202ets\u200b", "cats"),
        ("\u200b", "_"),
    ],
)
def test_a_class_is_one_folder_whatever_its_name(label, name):
    assert folder_name(label) == name


def test_names_that_a_disk_takes_for_the_same_become_two_folders(photos, tmp_path):
    """macOS and exFAT take `rose` and `Rose` for one folder, which would mix two classes."""
    labels = ("Rose", "rose", "ros\u00e9", "rose\u0301", "Rose")
    for number in range(5):
        (photos / f"{number}.jpg").write_bytes(b"image %d" % number)
    found = [(str(photos / f"{n}.jpg"), label) for n, label in enumerate(labels)]
    plan = make_plan(found, tmp_path / "out")
    folders = [each.folder for each in plan.placements]
    assert folders == ["Rose", "rose (2)", "ros\u00e9", "ros\u00e9 (2)", "Rose"]


def test_a_class_goes_to_the_folder_that_is_there_under_its_name(photos, tmp_path):
    for name in ("Rose", "ros\u0065\u0301"):
        (tmp_path / "out" / name).mkdir(parents=True)
    found = [(str(photos / "a.jpg"), "rose"), (str(photos / "b.jpg"), "rose\u0301")]
    plan = make_plan(found, tmp_path / "out")
    assert [each.folder for each in plan.placements] == ["Rose", "rose\u0301"]


def test_files_that_are_there_before_are_counted(photos, tmp_path):
    (tmp_path / "out" / "rose").mkdir(parents=True)
    (tmp_path / "out" / "other").mkdir()
    for name in ("rose/old.jpg", "rose/c.jpg", "other/d.jpg"):
        (tmp_path / "out" / name).write_bytes(b"old")
    plan = make_plan(answers(photos), tmp_path / "out")
    assert plan.num_there == 2
    assert "already have 2 files: predictions are mixed with them." in plan_words(plan, "cifar")
    assert "already have" not in plan_words(make_plan(answers(photos), tmp_path / "new"), "cifar")


def test_what_would_be_and_was_done_in_words(photos, tmp_path):
    out = tmp_path / "out"
    (out / "rose").mkdir(parents=True)
    (out / "rose" / "a.jpg").write_bytes(b"foreign")
    plan = make_plan(answers(photos), out)
    assert plan_words(plan, "cifar") == (
        "Predictions of cifar:\n\nlily: 1\nrose: 2\n\n47 bytes in total. Existing files are never overwritten.\n"
        "These class folders already have 1 file: predictions are mixed with them.\n"
        "Renamed (name already taken): 2\nSkipped (no predicted class): 1"
    )
    files = [photos / f"many {number}.jpg" for number in range(15)]
    for file in files:
        file.touch()
    many = [(str(file), f"class {number:02}") for number, file in enumerate(files)]
    lines = plan_words(make_plan(many, out), "cifar").splitlines()
    assert lines[13:15] == ["class 11: 1", "and 3 other classes"]
    (photos / "b.jpg").unlink()
    done = carry_out(plan, is_move=True)
    assert sorted_words(done, is_move=True, into="out") == (
        "2 images moved into out. 1 image not moved."
    )
    what = read_undo(done.undo_file)
    assert undo_question(what) == "Put 2 images back?"
    (out / "rose" / "a (2).jpg").write_bytes(b"edited")
    assert undone_words(what, undo(what)) == "1 image put back. 1 image not put back."


def test_a_file_is_no_folder_to_sort_into(photos):
    with pytest.raises(UsageError, match="not a folder"):
        make_plan(answers(photos), photos / "a.jpg")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON\n",
        '{"is_move":true}\n',
        '{"workbench_undo":9,"is_move":true}\n',
        f"{HEADER}{image('../../y')}\n",
        f"{HEADER}{image('/etc/y')}\n",
        f"{HEADER}{image('a/..')}\n",
        f'{HEADER}{{"type":"made_folder","name":".."}}\n',
        f'{HEADER}{{"type":"made_folder","name":"a/b"}}\n',
        f"{HEADER}{image('a/b').replace('/x', '/x' + NUL)}\n",
        f"{HEADER}{image('a/b' + NUL)}\n",
        '{"workbench_undo":1,"is_move":true,"part":"a.jpg"}\n',
    ],
)
def test_what_is_no_undo_file_is_refused(tmp_path, text):
    path = tmp_path / "undo.jsonl"
    path.write_text(f"{HEADER}{image('rose/a.jpg')}\n{{torn")
    assert len(read_undo(path).images) == 1
    path.write_text(text)
    with pytest.raises(InputError, match="not an undo file"):
        read_undo(path)


def test_a_full_disk_is_reported_with_what_was_done(photos, tmp_path):
    (photos / "b.jpg").write_bytes(b"x" * 5_000)
    plan = make_plan(answers(photos), tmp_path / "out")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4_000, limits[1]))
        done = carry_out(plan, is_move=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [Path(file).name for file, _ in done.failed] == ["b.jpg"]  # EFBIG: of this file alone
    assert not (tmp_path / "out" / "lily" / "b.jpg").exists()
    assert done.num_done == 2


def test_no_room_left_stops_and_names_the_undo_file(photos, tmp_path, monkeypatch):
    plan, copy = make_plan(answers(photos), tmp_path / "out"), place.shutil.copyfileobj
    copied = []

    def full_later(read, write, size):
        copied.append(read)
        if len(copied) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        copy(read, write, size)

    monkeypatch.setattr(place.shutil, "copyfileobj", full_later)
    done = carry_out(plan, is_move=False)
    (path,) = (tmp_path / "out").glob("undo *")
    assert isinstance(done.error, SaveError)
    assert "1 image placed" in done.error.what
    assert path.name in done.error.fix
    assert (done.num_done, done.undo_file, done.is_stopped) == (1, path, False)
    assert list(without_undo(tree(tmp_path / "out"))) == ["rose/a.jpg"]
    monkeypatch.undo()
    assert undo(read_undo(path)).num_done == 1
    assert list((tmp_path / "out").iterdir()) == []


def test_stopped_it_can_be_taken_back(photos, tmp_path):
    before = tree(tmp_path)
    plan = make_plan(answers(photos), tmp_path / "out")
    done = carry_out(plan, is_move=True, progress=lambda number: number < 2)
    assert (done.num_done, done.is_stopped) == (2, True)
    assert len(done.moved) == 2
    first = undo(read_undo(done.undo_file), progress=lambda number: number < 1)
    assert (first.num_done, first.is_complete) == (1, False)
    last = str(photos / "b.jpg")
    assert first.moved == {done.moved[last]: last}
    rest = undo(read_undo(done.undo_file))
    assert (rest.num_done, rest.is_complete) == (1, True)
    assert rest.moved == {now: before for before, now in done.moved.items()}
    assert tree(tmp_path) == before


def test_a_file_that_cannot_be_removed_is_not_moved(photos, tmp_path, monkeypatch):
    plan = make_plan(answers(photos)[:1], tmp_path / "out")
    real = Path.unlink

    def unlink(path, **kw):
        if path.parent == photos:
            raise PermissionError(errno.EACCES, "Permission denied")
        real(path, **kw)

    monkeypatch.setattr(Path, "unlink", unlink)
    done = carry_out(plan, is_move=True)
    assert done.failed == ((str(photos / "a.jpg"), "permission denied"),)
    assert without_undo(tree(tmp_path / "out")) == {}
    assert (photos / "a.jpg").exists()
