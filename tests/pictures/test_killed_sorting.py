"""Sorting killed at its worst moments: nothing is lost, and undo restores all."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.pictures.folders import tree, without_undo
from tests.sealed_sorting import read_undo, undo

_MOVE = """
import sys
from pathlib import Path
from tests.sealed_sorting import carry_out, make_plan
photos, out = map(Path, sys.argv[1:])
plan = make_plan([(str(each), "rose") for each in sorted(photos.iterdir())], out)
print("planned", flush=True)
carry_out(plan, is_move=True)
"""


@pytest.mark.parametrize("num_seen", [1, 40, 300])
def test_killed_while_it_moves_nothing_is_lost_and_undo_restores_all(tmp_path, num_seen):
    photos, out = tmp_path / "in", tmp_path / "out"
    photos.mkdir()
    for number in range(2_000):
        (photos / f"{number}.jpg").write_bytes(str(number).encode())
    before = tree(photos)
    command = [sys.executable, "-c", _MOVE, str(photos), str(out)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        while process.poll() is None and len(list((out).glob("rose/*"))) < num_seen:
            time.sleep(0.0005)
        process.kill()
    both = {Path(name).name: data for name, data in without_undo(tree(out)).items()}
    assert {**tree(photos), **both} == before
    (path,) = out.glob("undo *")
    assert undo(read_undo(path)).kept == ()
    assert tree(photos) == before
    assert list(out.iterdir()) == []


_KILLED_IN_A_COPY = """
import os, signal, sys
from pathlib import Path
from tests.sealed_sorting import carry_out, make_plan, place, read_undo, undo

def kill(*args):
    os.kill(os.getpid(), signal.SIGKILL)

def half(read, write, size):
    write.write(read.read(1_000))
    write.flush()
    kill()

def no_link(*args, **kw):
    raise OSError(18, "Invalid cross-device link")

def kill_here():
    if when == "half":
        place.shutil.copyfileobj = half
    else:  # the name is kept free by an empty file, and the whole copy has not got it yet
        Path.replace = kill

photos, out, (what, when) = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
place.os.link = no_link
if what != "undo":
    kill_here()
    plan = make_plan([(str(each), "rose") for each in sorted(photos.iterdir())], out)
    carry_out(plan, is_move=what == "move")
plan = make_plan([(str(each), "rose") for each in sorted(photos.iterdir())], out)
done = carry_out(plan, is_move=True)
kill_here()
undo(read_undo(done.undo_file))
"""


@pytest.mark.parametrize("has_folder", [False, True])
@pytest.mark.parametrize("what", ["copy", "move", "undo"])
@pytest.mark.parametrize("when", ["half", "name kept"])
def test_killed_in_a_copy_no_half_of_it_is_left(tmp_path, what, when, has_folder):
    photos, out = tmp_path / "in", tmp_path / "out"
    photos.mkdir()
    (photos / "a.jpg").write_bytes(b"x" * 5_000)
    if has_folder:
        (out / "rose").mkdir(parents=True)
    command = [sys.executable, "-c", _KILLED_IN_A_COPY, str(photos), str(out), what, when]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    found = [path.stat().st_size for path in tmp_path.rglob("*.jpg")]
    assert sorted(found) == ([5_000] if when == "half" else [0, 5_000])
    (path,) = out.glob("undo *")
    undone = undo(read_undo(path))
    assert undone.kept == ()
    assert undone.is_complete
    assert undone.num_done == (what == "undo")
    assert tree(tmp_path) == {"in/a.jpg": b"x" * 5_000}
    assert (out / "rose").exists() is has_folder


def test_an_empty_file_of_somebody_else_is_left_alone(tmp_path):
    """Without the whole copy beside it, nothing shows that it is ours."""
    photos, out = tmp_path / "in", tmp_path / "out"
    photos.mkdir()
    (photos / "a.jpg").write_bytes(b"x" * 5_000)
    command = [sys.executable, "-c", _KILLED_IN_A_COPY, str(photos), str(out), "move", "name kept"]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    (path,) = out.glob("undo *")
    what = read_undo(path)
    (out / "rose" / what.part).write_bytes(b"x" * 4_999)
    undone = undo(what)
    assert undone.kept == ((str(out / "rose" / "a.jpg"), "was changed"),)
    assert (out / "rose" / "a.jpg").exists()
    assert tree(photos) == {"a.jpg": b"x" * 5_000}
