"""The Data view shows the parts that training will make, counted by a real worker."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from tests.contexts import PlainContext
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import Choice
from workbench.datasets import all_datasets
from workbench.gui.data.classes import ClassRow
from workbench.pictures.edited import edited
from workbench.pictures.png import write_png
from workbench.pictures.prepare import prepare

_PATIENCE_MS = 120_000


@pytest.fixture
def folder(tmp_path):
    """Two classes of 30 images, one of them with ten copies in the other class."""
    for number in range(60):
        name = tmp_path / "data" / "ab"[number % 2] / f"p{number // 6}_{number}.png"
        write_png(name, np.full((6, 6, 3), number, np.uint8))
    for number in range(10):
        source = tmp_path / "data/a" / f"p{number * 2 // 6}_{number * 2}.png"
        (tmp_path / "data/b" / f"copy {number}.png").write_bytes(source.read_bytes())
    return tmp_path / "data"


def is_counted(state) -> bool:
    """Whether the images are decoded: until then the counts are estimates."""
    return state.description is not None and state.description.is_complete


@pytest.fixture
def view(window, context, folder, qtbot):
    context.document.set_dataset(Choice("folder", {"path": str(folder)}))
    context.document.set_recipe(split="content", test_share=0.2, validation_share=0.2)
    view = window.show_view("data")
    qtbot.waitUntil(lambda: is_counted(view.state), timeout=_PATIENCE_MS)
    return view


def trained(context, folder: Path, tmp_path) -> list[tuple[int, ...]]:
    """(train, validation, test) of each class as a run makes them."""
    project, ctx = context.document.project, PlainContext(tmp_path / "cache")
    loaded = all_datasets()["folder"].load(ctx, {"path": str(folder)})
    loaded = edited(loaded, project.edits, ctx, project.recipe)
    data = prepare(loaded, shape=(6, 6, 3), fit="crop", recipe=project.recipe, ctx=ctx)
    parts = (data.train, data.validation, data.test)
    counts = [np.bincount(part.y, minlength=len(data.class_names)) for part in parts]
    return [tuple(int(n) for n in each) for each in zip(*counts, strict=True)]


def shown(view) -> list[str]:
    return [row.accessibleName() for row in view.findChildren(ClassRow)]


def words(counts) -> list[str]:
    return [
        f"{name}: {train} train, {validation} validation, {test} test"
        for name, (train, validation, test) in zip("ab", counts, strict=False)
    ]


def test_counts_are_those_of_a_run_also_after_a_change(view, context, folder, tmp_path, qtbot):
    assert shown(view) == words(trained(context, folder, tmp_path))
    context.document.set_recipe(group_by="prefix")
    expected = trained(context, folder, tmp_path)
    qtbot.waitUntil(lambda: shown(view) == words(expected), timeout=_PATIENCE_MS)
    panel = view.panels["data_split"]
    assert "Groups and exact duplicates stay in one part" in panel.words.text()
    bar = [part.size for part in panel.bar._parts]
    assert bar == [sum(each) for each in zip(*expected, strict=True)]


def test_images_that_are_moved_or_left_out_are_described_again(
    view, context, folder, tmp_path, qtbot
):
    path = folder / "a" / "p0_0.png"
    other = folder / "a" / "p7_42.png"
    ids = [hashlib.sha256(each.read_bytes()).hexdigest()[:32] for each in (path, other)]
    edits = DataEdits(parts={ids[0]: "test"}, left_out=frozenset({ids[1]}), classes={"b": "c"})
    context.document.set_edits(edits, "Edit the data")
    expected = [each.replace("b:", "c:") for each in words(trained(context, folder, tmp_path))]
    qtbot.waitUntil(lambda: shown(view) == expected, timeout=_PATIENCE_MS)
    context.document.undo_stack.undo()
    qtbot.waitUntil(
        lambda: shown(view) == words(trained(context, folder, tmp_path)), timeout=_PATIENCE_MS
    )
    assert context.document.undo_stack.redoText() == "Edit the data"


def test_a_split_by_order_is_counted_with_edits_and_unreadable_files(
    view, context, folder, tmp_path, qtbot
):
    context.document.set_recipe(split="order")
    qtbot.waitUntil(
        lambda: shown(view) == words(trained(context, folder, tmp_path)), timeout=_PATIENCE_MS
    )
    (folder / "a" / "p0_2.png").write_bytes(b"no image")
    view.state.rescan()
    qtbot.waitUntil(
        lambda: shown(view) == words(trained(context, folder, tmp_path)), timeout=_PATIENCE_MS
    )
    ids = [
        hashlib.sha256(path.read_bytes()).hexdigest()[:32]
        for path in sorted((folder / "b").glob("p*.png"))[:7]
    ]
    context.document.set_edits(DataEdits(left_out=frozenset(ids)), "Leave out")
    qtbot.waitUntil(
        lambda: shown(view) == words(trained(context, folder, tmp_path)), timeout=_PATIENCE_MS
    )
    context.document.undo_stack.undo()
    qtbot.waitUntil(
        lambda: shown(view) == words(trained(context, folder, tmp_path)), timeout=_PATIENCE_MS
    )


def test_settings_that_change_nothing_are_not_shown(view, context):
    form = view.panels["data_split"].form
    context.document.set_recipe(split="order")
    assert not form.editor_widget("group_by").isVisible()


def test_until_a_split_is_counted_no_other_figures_are_shown(window, context, folder, qtbot):
    """Reopened, a project with an image left out shows nothing that is not true a moment later."""
    left_out = hashlib.sha256((folder / "a" / "p7_42.png").read_bytes()).hexdigest()[:32]
    context.document.set_dataset(Choice("folder", {"path": str(folder)}))
    context.document.set_recipe(split="content", test_share=0.2, validation_share=0.2)
    context.document.set_edits(DataEdits(left_out=frozenset({left_out})), "Leave out")
    view = window.show_view("data")
    split, check = view.panels["data_split"], view.panels["data_check"]
    seen: list[tuple[bool, str, str, list[str], str]] = []

    def look() -> None:
        is_complete = is_counted(view.state)
        bar = split.bar.accessibleName() if not split.bar.isHidden() else ""
        seen.append((is_complete, bar, split.words.text(), shown(view), check.summary.text()))

    look()
    for signal in (view.state.described, view.state.exact.changed):
        signal.connect(lambda *_: look())
    qtbot.waitUntil(lambda: is_counted(view.state), timeout=_PATIENCE_MS)
    early, late = [each for each in seen if not each[0]], seen[-1]
    assert len(early) > 1
    for _, bar, words, rows, summary in early:
        assert "held out" not in words
        assert not any(letter.isdigit() for letter in bar)
        assert not any("train" in row for row in rows)
        assert summary == "The images are checked as soon as they are read."
    assert early[-1][3] == ["a: 29", "b: 40"]
    assert "images are held out for testing" in late[2]
    assert all("validation" in row for row in late[3])
    context.document.set_recipe(test_share=0.3)  # counted anew: no figure by guess meanwhile
    assert split.bar.accessibleName() == "Training: …, Validation: …, Test: …"
    qtbot.waitUntil(lambda: "held out" in split.words.text(), timeout=_PATIENCE_MS)
