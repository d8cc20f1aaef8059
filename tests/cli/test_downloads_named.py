"""`workbench check` names the images that training would download first."""

from __future__ import annotations

import json

from workbench.cli import main


def checked(capsys, path):
    capsys.readouterr()
    main(["check", str(path), "--json"])
    return json.loads(capsys.readouterr().out)


def test_images_that_are_not_there_yet_are_named_before_training(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    path = tmp_path / "p.workbench"
    assert main(["new", "cifar10_convnet", str(path)]) == 0
    assert checked(capsys, path)["downloads"] == 170_498_071
    assert main(["check", str(path)]) == 0
    assert "training downloads them first (170 MB)" in capsys.readouterr().err


def test_images_that_come_with_workbench_are_no_download(tmp_path, capsys):
    path = tmp_path / "p.workbench"
    assert main(["new", "fashion_convnet", str(path)]) == 0
    assert checked(capsys, path)["downloads"] is None


def test_without_a_network_it_is_an_error(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    monkeypatch.setattr("workbench.downloads.download.has_route", lambda address: False)
    path = tmp_path / "p.workbench"
    main(["new", "cifar10_convnet", str(path)])
    found = checked(capsys, path)
    assert not found["ok"]
    assert any("CIFAR-10" in problem["message"] for problem in found["problems"])
