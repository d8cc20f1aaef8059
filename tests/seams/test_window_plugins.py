"""One new file adds a view, a panel, a source of images, a curve or a setting: used in the real
window.
"""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest

HERE = Path(__file__).parent
EXAMPLES = HERE / "examples"


@pytest.fixture
def use(tree, tmp_path):
    """Adds examples (name and folder of each) to a copy of the program, and what its window then
    shows: `what` is a function of use_window.py.
    """

    def use(what, **folders):
        for example, folder in folders.items():
            tree.add(f"{folder}/{example}.py", (EXAMPLES / f"{example}.py").read_text())
        script = str(HERE / "use_window.py")
        done = tree.python("-W", "error", script, what, str(tmp_path))
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return use


def test_a_view(use):
    seen = use("view", glossary="workbench/gui/views")
    assert seen["by key"] == seen["by segment"] == "glossary"
    assert seen["text"] == "Epoch: one pass over the training pictures."
    assert seen["is visible"]
    assert seen["is checked"]
    menu = seen["menu"]
    assert menu.index("&Glossary") == menu.index("&Classify") + 1
    assert ["Ctrl+6", "Glossary"] in seen["keys"]


@pytest.mark.worker
def test_a_panel_of_evaluate_and_a_source_of_classify(use):
    """Both in one window: each needs a model that is trained there."""
    sources = "workbench/gui/classify/sources"
    seen = use("panel_and_source", worst_class="workbench/gui/panels", plain_gray=sources)
    name, recall = min(seen["recalls"].items(), key=lambda item: item[1])
    assert f"{name}: {100 * recall:.1f}% found" in seen["words"]
    assert seen["is visible"]
    assert seen["menu"].count("Worst class") == 1
    assert sorted(seen["menu"]) == sorted(seen["titles"])  # the view's panels, and no others
    assert seen["is hidden"]
    assert seen["stays hidden"]
    assert not seen["others are hidden"]
    assert not seen["hidden after a reset"]
    assert seen["sources"].count("Plain gray") == 1
    assert seen["classified"] == [["gray 1.png", *sorted(seen["recalls"])]]


def test_a_curve(use, tree, tmp_path):
    seen = use("curve", images_per_second="workbench/curves")
    assert not seen["was shown"]
    assert seen["is shown"]
    assert seen["title"] == "Images per second"
    assert seen["value"] == "1,234 images/s"
    assert seen["y"] == [1234.0, 1234.0]
    assert len(seen["x"]) == 2
    plot = list(csv.DictReader((tmp_path / "plot.csv").read_text().splitlines()))
    assert [row["images_per_second"] for row in plot] == ["1234.0", "1234.0"]
    tree.workbench("runs", "export", seen["run"], str(tmp_path / "run.csv"))
    steps = list(csv.DictReader((tmp_path / "run.csv").read_text().splitlines()))
    assert {row["images_per_second"] for row in steps} == {"1234"}
    assert len(steps) == 20


def test_a_setting(use):
    seen = use("setting", beep="workbench/settings/options")
    assert "Beep" in seen["labels"]
    assert "The sound is that of the desktop." in seen["labels"]
    assert not seen["before"]
    stored = json.loads((Path(os.environ["WORKBENCH_HOME"]) / "settings.json").read_text())
    assert stored["beep"] is True
