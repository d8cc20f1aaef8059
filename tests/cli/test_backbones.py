"""`workbench backbones`."""

from __future__ import annotations

import json

import pytest

from workbench.backbones import all_backbones
from workbench.cli import main

UNKNOWN = next(
    spec for spec in all_backbones().values() if not (spec.is_bundled or spec.weights.checksum)
)


def test_all_are_listed_with_where_their_weights_are(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    assert main(["backbones", "--json"]) == 0
    lines = {line["key"]: line for line in map(json.loads, capsys.readouterr().out.splitlines())}
    assert list(lines) == list(all_backbones())
    for key, spec in all_backbones().items():
        line = lines[key]
        assert (line["parameters"], line["features"]) == (spec.num_parameters, spec.num_features)
        assert line["included"] == line["is_here"] == (line["address"] == "")


def test_people_read_what_is_included_and_what_is_downloaded(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / UNKNOWN.weights.file_name).write_bytes(b"numbers")
    assert main(["backbones"]) == 0
    lines = capsys.readouterr().out.splitlines()
    ends = [line.rpartition(" · ")[2] for line in lines]
    assert ends.count("included") == 2
    assert ends.count("downloaded") == 1
    assert ends.count("downloads 94.8 MB") == 1


def test_a_bundled_one_is_not_downloaded(capsys):
    assert main(["backbones", "--download", next(iter(all_backbones()))]) == 2
    assert "invalid choice" in capsys.readouterr().err


@pytest.mark.worker
def test_a_file_that_holds_no_weights_is_refused(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    (tmp_path / "models").mkdir()
    path = tmp_path / "models" / UNKNOWN.weights.file_name
    path.write_bytes(b"no weights" * 1000)
    assert main(["backbones", "--download", UNKNOWN.key, "--json"]) != 0
    error = json.loads(capsys.readouterr().out.splitlines()[-1])["error"]
    assert error["where"] == str(path)
