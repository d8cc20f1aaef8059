"""The whole job from the command line, with real TensorFlow: training and the first classification
in processes of their own, other commands with one service worker for all.
"""

from __future__ import annotations

import csv
import itertools
import json
import shutil
import subprocess
import sys
from contextlib import nullcontext

import msgspec
import numpy as np
import pytest
from PIL import Image

from workbench.cli import _service, main
from workbench.protocol.service_call import ServiceCall
from workbench.runs.model_card import read_card, write_card

pytestmark = pytest.mark.worker


def _workbench(*words):
    return subprocess.run(
        [sys.executable, "-m", "workbench", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )


def _lines(output):
    return [json.loads(line) for line in output.splitlines()]


@pytest.fixture(scope="module")
def service():
    """A service worker that answers all commands that `run_command` runs."""
    with ServiceCall() as call:
        yield call


@pytest.fixture
def run_command(service, monkeypatch, capsys):
    """Runs a command in this process: (its exit code, its lines of JSON)."""
    monkeypatch.setattr(_service, "ServiceCall", lambda: nullcontext(service))

    def run(*words):
        code = main([*map(str, words), "--json"])
        return code, _lines(capsys.readouterr().out)

    return run


def _small_graph():
    """A linear classifier of the bundled pictures, as in a project file."""
    dense = {"units": 10, "activation": "softmax"}
    kinds = {"input": {"shape": [28, 28, 1]}, "rescaling": {}, "flatten": {}, "dense": dense}
    nodes = [{"id": key, "kind": key, "name": key, "params": kinds[key]} for key in kinds]
    edges = [{"source": a, "target": b, "port": 0} for a, b in itertools.pairwise(kinds)]
    return {"nodes": nodes, "edges": edges}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A small real training on the bundled pictures, and where it is."""
    folder = tmp_path_factory.mktemp("cli")
    project = folder / "p.workbench"
    assert _workbench("new", "fashion_convnet", project).returncode == 0
    plain = json.loads(project.read_text())
    plain["recipe"].update(steps_per_epoch=20, batch_size=200)
    plain["graph"] = _small_graph()
    project.write_text(json.dumps(plain))
    result = _workbench("train", project, "--epochs", 2, "--run", folder / "run", "--json")
    assert result.returncode == 0, result.stderr
    return folder / "run", _lines(result.stdout)


def test_train_prints_the_events_that_programs_rely_on(trained):
    folder, events = trained
    by_name = {event["event"]: event for event in events}
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert {"run", "target", "replicas", "precision", "seed", "versions"} <= set(
        by_name["run_started"]
    )
    plan = by_name["run_started"]["plan"]
    assert {"precision", "xla", "steps_per_call", "pipeline", "gain"} <= set(plan)
    assert {"step", "loss", "accuracy"} <= set(by_name["batch"])
    finished = by_name["run_finished"]
    assert finished["outcome"] == "completed"
    assert finished["run"] == str(folder)
    assert finished["test"]["accuracy"] > 0.6
    assert finished["best"]["epoch"] in {1, 2}
    epochs = [event for event in events if event["event"] == "epoch_finished"]
    assert [event["epoch"] for event in epochs] == [1, 2]


def test_every_batch_is_in_the_log(trained):
    _, events = trained
    losses = [loss for event in events if event["event"] == "batch" for loss in event["losses"]]
    assert len(losses) == 40


def test_classify_goes_on_after_a_bad_picture(trained, run_command, tmp_path):
    run, _ = trained
    good, bad = tmp_path / "good.png", tmp_path / "bad.png"
    Image.fromarray(np.full((28, 28), 90, np.uint8)).save(good)
    bad.write_text("not a picture")
    table = tmp_path / "table.csv"
    result = _workbench("classify", run, bad, good, "--top", 3, "--csv", table, "--json")
    assert result.returncode == 1, result.stderr
    first, second = _lines(result.stdout)
    assert first["file"] == str(bad)
    assert first["error"]["what"]
    assert len(second["scores"]) == 3
    assert second["label"] == second["scores"][0]["class"]
    assert second["milliseconds"] > 0
    assert len(table.read_text().splitlines()) == 3
    assert run_command("classify", run, bad)[0] == 3


def test_evaluate_agrees_with_the_run(trained, run_command):
    run, events = trained
    code, (answer,) = run_command("evaluate", run)
    assert code == 0
    assert answer["accuracy"] == events[-1]["test"]["accuracy"]
    kept = events[-1]["kept"]
    assert answer["weights"] == kept
    assert kept["kind"] == "last"
    assert sum(map(sum, answer["confusion"])) == 10_000
    assert len(answer["per_class"]) == 10
    assert "images" not in answer
    recalls = [score["recall"] for score in answer["per_class"]]
    assert answer["balanced_accuracy"] == pytest.approx(np.mean(recalls))
    top_3, top_5 = (answer["top_k_accuracy"][k] for k in ("3", "5"))
    assert answer["accuracy"] < top_3 < top_5 <= 1


def test_evaluate_writes_a_row_for_each_image_that_classify_agrees_with(
    trained, run_command, tmp_path
):
    run, _ = trained
    table = tmp_path / "images.csv"
    code, (answer,) = run_command("evaluate", run, "--csv", table)
    assert code == 0
    with table.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len({row["file"] for row in rows}) == 10_000
    confusion = np.zeros((10, 10), int)
    places = {name: place for place, name in enumerate(answer["classes"])}
    for row in rows:
        confusion[places[row["actual"]], places[row["predicted"]]] += 1
    assert confusion.tolist() == answer["confusion"]
    losses = [float(row["loss"]) for row in rows]
    assert losses == sorted(losses, reverse=True)
    right = [row for row in rows if row["actual"] == row["predicted"]]
    own = -np.log([float(row["probability"]) for row in right])
    assert [float(row["loss"]) for row in right] == pytest.approx(own, abs=1e-9)
    worst = rows[0]
    number = worst["file"].removeprefix("test image ")
    _, (classified,) = run_command("classify", run, "--test", number)
    assert classified["label"] == worst["predicted"]
    probability = classified["scores"][0]["probability"]
    assert probability == pytest.approx(float(worst["probability"]), abs=1e-5)


def test_evaluate_prints_the_confusion_matrix(trained, service, monkeypatch, capsys):
    run, _ = trained
    monkeypatch.setattr(_service, "ServiceCall", lambda: nullcontext(service))
    assert main(["evaluate", str(run)]) == 0
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("confusion matrix (rows: actual, columns: predicted)") + 2
    numbers = [line.replace(",", "").split()[-10:] for line in lines[start : start + 10]]
    assert sum(int(each) for row in numbers for each in row) == 10_000


def test_evaluate_measures_another_part_of_the_split(trained, run_command, capsys):
    run, events = trained
    code, (answer,) = run_command("evaluate", run, "--part", "validation")
    assert code == 0
    assert answer["part"] == "validation"
    assert answer["accuracy"] == pytest.approx(events[-1]["kept"]["val_accuracy"], abs=2e-3)
    assert main(["evaluate", str(run), "--part", "train", "--data", "mnist"]) == 2
    assert "not allowed with argument" in capsys.readouterr().err


def test_evaluate_slices_the_images(trained, run_command, service, monkeypatch, capsys):
    run, _ = trained
    code, (answer,) = run_command("evaluate", run, "--by", "brightness")
    assert code == 0
    slices = answer["slices"]
    assert answer["by"] == "brightness"
    assert len(slices) == 5
    assert sum(each["count"] for each in slices) == 10_000
    right = sum(each["count"] * each["accuracy"] for each in slices)
    assert right / 10_000 == pytest.approx(answer["accuracy"])
    darkest = [int(each["slice"].split("–")[0]) for each in slices]
    assert darkest == sorted(darkest)
    assert all(each["low"] < each["accuracy"] < each["high"] for each in slices)
    assert not any(each["few"] for each in slices)
    monkeypatch.setattr(_service, "ServiceCall", lambda: nullcontext(service))
    assert main(["evaluate", str(run), "--by", "size"]) == 0
    assert "28 × 28 px" in capsys.readouterr().out
    assert main(["evaluate", str(run), "--by", "folder"]) == 2
    assert "in no files of their own" in capsys.readouterr().err


def test_evaluate_says_where_the_test_set_was_also_validated_on(
    trained, service, monkeypatch, capsys, tmp_path
):
    monkeypatch.setattr(_service, "ServiceCall", lambda: nullcontext(service))
    remark = "These test images were also the validation images of the training"
    for validation in ("test", "split"):
        run = shutil.copytree(trained[0], tmp_path / validation)
        card = read_card(run)
        recipe = {**card.recipe, "validation": validation}
        write_card(run, msgspec.structs.replace(card, recipe=recipe))
        assert main(["evaluate", str(run)]) == 0
        assert (remark in capsys.readouterr().out) == (validation == "test")


def test_classify_takes_images_of_the_test_set_by_number(
    trained, service, monkeypatch, capsys, tmp_path
):
    run, _ = trained
    monkeypatch.setattr(_service, "ServiceCall", lambda: nullcontext(service))
    assert main(["classify", str(run), "--test", "0", "--test", "7", "--top", "1"]) == 0
    out, err = capsys.readouterr()
    first, second = out.splitlines()
    assert first.startswith("test image 0 (label: ")
    assert second.startswith("test image 7 (label: ")
    assert "2 images classified." in err
    assert main(["classify", str(run), "--test", "10000"]) == 2
    assert "9,999" in capsys.readouterr().err
    assert main(["classify", str(run)]) == 2


def test_an_existing_file_is_kept_without_force(trained, run_command, tmp_path):
    run, _ = trained
    file = tmp_path / "m.py"
    file.write_text("mine")
    for words in (
        ["export", run, "python", file],
        ["export", run, "python", file.with_suffix("")],
        ["classify", run, file, "--csv", file],
        ["evaluate", run, "--csv", file],
    ):
        code, (line,) = run_command(*words)
        assert (code, file.read_text()) == (2, "mine")
        assert "--force" in line["error"]["fix"]
    assert main(["runs", "export", str(run), str(file)]) == 2
    assert file.read_text() == "mine"
    assert run_command("export", run, "python", file, "--force")[0] == 0
    assert file.read_text() != "mine"


def test_calibrate_fits_a_run_and_a_threshold_makes_answers_unknown(trained, run_command, tmp_path):
    run, image = tmp_path / "run", tmp_path / "gray.png"
    shutil.copytree(trained[0], run)
    Image.new("RGB", (40, 40), "gray").save(image)
    code, (found,) = run_command("calibrate", run)
    assert (code, found["folds"]) == (0, 10)
    assert found["loss_after"] <= found["loss_before"]
    assert found["error_after"] <= found["error_before"]
    assert (found["temperature"] is None) == bool(found["reason"])
    _, (scores,) = run_command("evaluate", run)
    table = tmp_path / "images.csv"
    run_command("evaluate", run, "--csv", table)
    losses = [float(row["loss"]) for row in csv.DictReader(table.read_text().splitlines())]
    assert scores["negative_log_likelihood"] == pytest.approx(np.mean(losses), rel=1e-3)
    assert scores["calibration"]["temperature"] == (found["temperature"] or 1.0)
    _, (answer,) = run_command("classify", run, image, "--top", 0)
    code, (found,) = run_command("calibrate", run, "--threshold", 1)
    assert (code, found["least_probability"]) == (0, 1)
    _, (unknown,) = run_command("classify", run, image, "--top", 0, "--csv", tmp_path / "a.csv")
    assert unknown["label"] is None
    assert unknown["unknown"]
    assert unknown["scores"] == answer["scores"]
    (row,) = csv.DictReader((tmp_path / "a.csv").read_text().splitlines())
    assert (row["predicted"], row["unknown"]) == ("", unknown["unknown"])


def test_exports_are_written(trained, run_command, tmp_path):
    run, _ = trained
    for name, out in (("keras", "m.keras"), ("weights", "m.weights.h5"), ("python", "m.py")):
        assert run_command("export", run, name, tmp_path / out)[0] == 0
        assert (tmp_path / out).stat().st_size > 500


def test_data_check_counts_and_names_bad_files(tmp_path):
    for name in ("a", "b"):
        (tmp_path / "set" / name).mkdir(parents=True)
        for number in range(3):
            Image.fromarray(np.full((8, 8, 3), 9 * number, np.uint8)).save(
                tmp_path / "set" / name / f"{number}.png"
            )
    (tmp_path / "set" / "a" / "broken.jpg").write_bytes(b"\xff\xd8\xff")
    result = _workbench("data", "check", f"folder:{tmp_path / 'set'}", "--json")
    assert result.returncode == 1, result.stderr
    (answer,) = _lines(result.stdout)
    assert answer["ok"] is False
    assert [c["class"] for c in answer["classes"]] == ["a", "b"]
    assert len(answer["bad_files"]) == 1


def test_runs_lists_the_run_folder_of_the_default_place(tmp_path):
    result = _workbench("runs", "--json")
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""
