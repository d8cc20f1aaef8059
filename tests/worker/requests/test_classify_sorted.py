"""`workbench classify --copy-into | --move-into` and `workbench undo`, with a real worker."""

from __future__ import annotations

import csv
import json

import pytest
from PIL import Image

from tests.worker.requests.brightness import Brightness
from workbench.cli import _sorting

pytestmark = pytest.mark.worker


@pytest.fixture(scope="module")
def brightness(service, tmp_path_factory):
    return Brightness(service.call, tmp_path_factory.mktemp("sorted"))


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    for number in range(8):
        inner = folder / ("day" if number % 2 else "night")
        inner.mkdir(parents=True, exist_ok=True)
        Image.new("L", (6, 4), 240 if number % 2 else 20).save(inner / f"{number}.png")
    (folder / "bad.png").touch()
    return folder


def names(folder):
    return {str(p.relative_to(folder)) for p in folder.rglob("*.png")}


BRIGHT = {f"bright/{number}.png" for number in (1, 3, 5, 7)}
DARK = {f"dark/{number}.png" for number in (0, 2, 4, 6)}


def printed(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_images_are_moved_as_planned_and_put_back(
    brightness, photos, tmp_path, run_command, capsys
):
    before, out = names(photos), tmp_path / "out"
    words = ["classify", brightness.run, str(photos), "--move-into", str(out), "--json"]
    assert run_command([*words, "--dry-run"]) == 1  # bad.png cannot be read
    plan = printed(capsys)[-1]["plan"]
    assert plan["classes"] == {"bright": 4, "dark": 4}
    assert [each["reason"] for each in plan["skipped"]] == ["no predicted class"]
    assert not out.exists()
    assert run_command([*words, "--yes"]) == 1
    done = printed(capsys)[-1]["sorted"]
    assert done["images"] == 8
    assert names(out) == BRIGHT | DARK
    assert names(photos) == {"bad.png"}
    assert run_command(["undo", done["undo"], "--dry-run", "--json"]) == 0
    plan = printed(capsys)[-1]["plan"]
    assert (plan["is_move"], plan["images"], len(plan["files"])) == (True, 8, 8)
    assert run_command(["undo", done["undo"], "--yes", "--json"]) == 0
    assert printed(capsys)[-1] == {"images": 8, "kept": []}
    assert names(photos) == before
    assert not names(out)


@pytest.mark.parametrize("typed", ["yes\n", "\n", ""])
def test_a_person_is_asked_first(brightness, photos, run_command, monkeypatch, typed):
    monkeypatch.setattr(_sorting, "_has_reader", lambda _arguments: True)
    monkeypatch.setattr(_sorting.sys.stdin, "readline", lambda: typed, raising=False)
    out = photos.parent / "out"
    assert (
        run_command(["classify", brightness.run, str(photos), "--copy-into", str(out)]) == 1
    )  # bad.png cannot be read
    assert out.exists() is bool(typed.strip())
    assert len(names(photos)) == 9


def test_without_anybody_to_answer_nothing_is_begun(brightness, photos, run_command, capsys):
    words = ["classify", brightness.run, str(photos)]
    assert run_command([*words, "--move-into", str(photos / "out"), "--json"]) == 2
    assert "--yes or --dry-run" in printed(capsys)[-1]["error"]["what"]
    assert run_command([*words, "--dry-run"]) == 2
    assert "--copy-into DIR" in capsys.readouterr().err
    assert run_command(["undo", str(photos / "bad.png"), "--yes"]) == 3
    assert "not an undo file" in capsys.readouterr().err


def test_a_table_of_true_classes_gives_metrics_and_a_column(
    brightness, photos, run_command, capsys
):
    """Half of the bright ones are said to be dark."""
    truth, table = photos.parent / "truth.csv", photos.parent / "t.csv"
    lines = [f"day/{number}.png,{'bright' if number < 4 else 'dark'}" for number in (1, 3, 5, 7)]
    truth.write_text("\n".join(["path,label", *lines, "0.png,Dark", "night/2.png,dusk"]))
    words = ["classify", brightness.run, str(photos), "--truth", str(truth), "--csv", str(table)]
    assert run_command([*words, "--json"]) == 1  # bad.png cannot be read
    last = printed(capsys)[-1]
    found = last["agreement"]
    assert "The label column: label (by its name)." in last["reading"]
    assert (found["num_right"], found["num_wrong"]) == (3, 2)
    assert (found["num_foreign"], found["num_unlabeled"]) == (1, 2)
    assert {each["class"]: each["recall"] for each in found["per_class"]} == {
        "bright": 1.0,
        "dark": pytest.approx(1 / 3),
    }
    with table.open(newline="") as file:
        truths = {row["file"].rsplit("/", 1)[-1]: row["actual"] for row in csv.DictReader(file)}
    assert truths["5.png"] == "dark"
    assert truths["4.png"] == ""
    assert run_command([*words[:3], "--truth", str(table.with_suffix(".none")), "--json"]) == 3
