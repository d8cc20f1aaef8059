"""An undo file from elsewhere puts nothing but pictures anywhere, and only after a question."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from tests.sealed_sorting import carry_out, key, make_plan, read_undo, undo
from workbench.pictures import sorting
from workbench.pictures.sorting.words import foreign_words


def written(folder, *images, is_move=True, **more):
    """An undo file that an attacker, or an earlier version, has written."""
    lines = [{"workbench_undo": 1, "is_move": is_move, **more}]
    for source, target in images:
        info = (folder / target).stat()
        lines.append({"type": "image", "source": str(source), "target": target,
                      "num_bytes": info.st_size, "mtime_ns": info.st_mtime_ns})  # fmt: skip
    path = folder / "undo 2026-11-01 10.00.00.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture
def share(tmp_path):
    """A folder from elsewhere: a picture, and what is called one."""
    (tmp_path / "share" / "cats").mkdir(parents=True)
    (tmp_path / "home" / "photos").mkdir(parents=True)
    (tmp_path / "home" / ".config" / "autostart").mkdir(parents=True)
    Image.new("RGB", (8, 8), "red").save(tmp_path / "share" / "cats" / "real.png")
    (tmp_path / "share" / "cats" / "a.jpg").write_text("[Desktop Entry]\nExec=evil\n")
    return tmp_path / "share"


def places(home):
    return {
        "a program": (home / "photos" / "x.desktop", "cats/real.png", "is no picture"),
        "no picture": (home / "photos" / "x.jpg", "cats/a.jpg", "is no picture"),
        "hidden": (home / ".config" / "autostart" / "x.png", "cats/real.png", "its folder is hidden"),
        "hidden name": (home / "photos" / ".x.png", "cats/real.png", "its folder is hidden"),
        "no folder": (home / "new" / "x.png", "cats/real.png", "its folder is not there"),
        "relative": ("x.png", "cats/real.png", "is no picture"),
        "a link": (home / "link" / "x.png", "cats/real.png", "its folder is hidden"),
    }  # fmt: skip


@pytest.mark.parametrize("what", ["a program", "no picture", "hidden", "hidden name", "no folder",
                                  "relative", "a link"])  # fmt: skip
def test_a_foreign_undo_file_puts_back_pictures_alone_and_makes_no_folder(
    share, tmp_path, monkeypatch, what
):
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    (home / "link").symlink_to(home / ".config" / "autostart")
    source, target, reason = places(home)[what]
    found = read_undo(written(share, (source, target)))
    assert found.is_foreign
    assert str(Path(source).parent) in foreign_words(found)
    done = undo(found)
    assert [why for _, why in done.kept] == [reason]
    assert not os.path.lexists(source)
    assert (share / target).exists()


def test_a_picture_goes_back_where_its_folder_is(share, tmp_path):
    source = tmp_path / "home" / "photos" / "x.png"
    assert undo(read_undo(written(share, (source, "cats/real.png")))).num_done == 1
    assert source.exists()


def test_a_copy_is_deleted_only_where_its_original_has_the_same_content(share, tmp_path):
    original = tmp_path / "home" / "photos" / "x.png"
    Image.new("RGB", (8, 8), "blue").save(original)
    found = read_undo(written(share, (original, "cats/real.png"), is_move=False))
    assert undo(found).kept[0][1] == "is not like its original"
    original.write_bytes((share / "cats" / "real.png").read_bytes())
    found = read_undo(written(share, (original, "cats/real.png"), is_move=False))
    assert undo(found).num_done == 1


@pytest.fixture
def moved(tmp_path):
    """Two pictures moved by us, into a folder that is gone again where they were."""
    source = tmp_path / "in" / ".deep"
    source.mkdir(parents=True)
    answers = []
    for name in ("a.png", "b.png"):
        Image.new("RGB", (8, 8), "red").save(source / name)
        answers.append((str(source / name), "rose"))
    return carry_out(make_plan(answers, tmp_path / "out"), is_move=True).undo_file


def test_what_was_written_here_goes_back_anywhere(moved, tmp_path):
    (tmp_path / "in" / ".deep").rmdir()
    found = read_undo(moved)
    assert not found.is_foreign
    assert foreign_words(found) == ""
    assert undo(found).num_done == 2
    assert (tmp_path / "in" / ".deep" / "b.png").exists()


CHANGES = {
    "another place": lambda lines: [line.replace("a.png", "c.png") for line in lines],
    "a line taken out": lambda lines: [*lines[:-2], lines[-1]],
    "another order": lambda lines: [*lines[:-2], lines[-1], lines[-2]],
    "a line added": lambda lines: [*lines, lines[-1]],
    "deletes": lambda lines: [lines[0].replace('"is_move":true', '"is_move":false'), *lines[1:]],
    "no marks": lambda lines: [_unsealed(line) for line in lines],
}


def _unsealed(line):
    values = json.loads(line)
    return json.dumps(
        {**values, "seal": "", "nonce": ""} if "nonce" in values else {**values, "seal": ""}
    )


@pytest.mark.parametrize("change", CHANGES)
def test_any_change_makes_it_foreign(moved, change):
    moved.write_text("\n".join(CHANGES[change](moved.read_text().splitlines())) + "\n")
    assert read_undo(moved).is_foreign


def test_another_user_s_is_foreign(moved):
    assert sorting.read_undo(moved, sealer=lambda nonce: key(nonce + "x")).is_foreign
    assert sorting.read_undo(moved, sealer=lambda _: b"").is_foreign


def test_a_torn_last_line_leaves_it_one_s_own(moved):
    moved.write_bytes(moved.read_bytes()[:-7])
    found = read_undo(moved)
    assert (len(found.images), found.is_foreign) == (1, False)


# the command -----------------------------------------------------------------------------


def command(*words):
    return subprocess.run(
        [sys.executable, "-m", "workbench", "undo", *map(str, words)],
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def test_the_command_lists_each_step_and_refuses_a_mere_yes(share, tmp_path):
    source = tmp_path / "home" / "photos" / "x.png"
    path = written(share, (source, "cats/real.png"))
    done = command(path, "--dry-run")
    assert done.returncode == 0
    assert f"{share / 'cats' / 'real.png'} -> {source}" in done.stderr
    assert str(source.parent) in done.stderr
    plan = json.loads(command(path, "--dry-run", "--json").stdout)["plan"]
    assert plan["is_foreign"]
    assert plan["files"] == [{"from": str(share / "cats" / "real.png"), "to": str(source)}]
    done = command(path, "--yes")
    assert done.returncode == 2
    assert str(source.parent) in done.stderr
    assert not source.exists()
    assert command(path, "--yes", "--foreign").returncode == 0
    assert source.exists()
