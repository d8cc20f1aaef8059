"""Images at an address that came with a file: contacted once the user has confirmed it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.contexts import PlainContext
from tests.web_server import web_server
from tests.written_records import write_records
from workbench.cli._project import typed_source
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import Choice
from workbench.pictures.png import png_bytes
from workbench.runs.trust import UnknownPlaceError, forget, is_known
from workbench.worker.input.sources import load_source

PNG = png_bytes(np.zeros((2, 2, 3), np.uint8))


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("http_proxy", raising=False)


def test_an_address_is_contacted_once_it_is_typed(tmp_path):
    records = [{"image": PNG, "label": name} for name in (b"oak", b"fir")]
    data = write_records(tmp_path / "a.tfrec", records).read_bytes()
    (tmp_path / "cache").mkdir()
    with web_server() as server:
        server.put("a.tfrec", data)
        host = server.address.removeprefix("http://")
        choice = Choice("tfrecord", {"path": f"{server.address}/a.tfrec"})
        ctx = PlainContext(tmp_path / "cache")
        with pytest.raises(UnknownPlaceError, match=f"Connect to {host}") as caught:
            load_source(ctx, choice.key, choice.params, DataEdits())
        assert "workbench data check" in caught.value.fix
        assert server.asked == []
        typed_source(f"tfrecord:{server.address}/a.tfrec")
        assert is_known(choice)
        assert load_source(ctx, choice.key, choice.params, DataEdits()).class_names == (
            "fir",
            "oak",
        )
        assert forget(host)
        assert not is_known(choice)


def test_files_of_this_computer_need_no_confirmation():
    assert is_known(Choice("tfrecord", {"path": "/data/a.tfrec"}))
    assert is_known(Choice("cifar10", {}))
