"""Settings: tolerant to read, never lost, never in the window's way."""

from __future__ import annotations

import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import ParamError
from workbench.settings.options import all_settings
from workbench.settings.options.runs_folder import SPEC as RUNS_FOLDER
from workbench.settings.options.theme import SPEC as THEME
from workbench.settings.store import (
    MAX_RECENT_FILES,
    RECENT_FILES,
    Settings,
    SettingsStore,
    parse_settings,
    settings_text,
)


def stored(folder, text):
    (folder / "settings.json").write_text(text)
    return SettingsStore(folder)


@pytest.mark.parametrize("spec", all_settings().values(), ids=lambda spec: spec.key)
def test_spec(spec):
    assert spec.param.title
    assert spec.param.help.endswith(".")
    assert Settings().get(spec) == spec.param.check(spec.param.default)
    assert spec.key != RECENT_FILES


def test_the_dialog_shows_the_settings_in_their_order():
    assert list(all_settings()) == sorted(all_settings(), key=lambda key: all_settings()[key].order)
    assert list(all_settings())[:2] == ["theme", "display_scale"]


def test_a_change_reaches_the_disk_and_the_listeners(tmp_path):
    store, changes = SettingsStore(tmp_path / "new folder"), []
    stop = store.listen(changes.append)
    store.change(theme="dark", runs_folder="/runs")
    store.change(theme="dark")
    stop()
    store.change(animates=False)
    store.close()
    assert [s.get(THEME) for s in changes] == ["dark"]
    again = SettingsStore(tmp_path / "new folder")
    assert again.settings == store.settings
    assert again.settings.get(RUNS_FOLDER) == "/runs"
    assert again.note == ""
    assert not [t for t in threading.enumerate() if t.name == "settings-writer"]


@pytest.mark.parametrize(
    "values", [{"theme": "pink"}, {"theme": 1}, {"no_such": 1}, {"recent_files": [1]}]
)
def test_wrong_changes_change_nothing(tmp_path, values):
    store = SettingsStore(tmp_path)
    with pytest.raises(ParamError):
        store.change(animates=False, **values)
    store.close()
    assert store.settings == Settings()
    assert not store.path.exists()


def test_recent_files_latest_first_and_at_most_twelve(tmp_path):
    store = SettingsStore(tmp_path)
    for number in range(20):
        store.add_recent(tmp_path / f"{number}.workbench")
    store.add_recent(tmp_path / "15.workbench")
    assert len(store.settings.recent_files) == MAX_RECENT_FILES == 12
    assert store.settings.recent_files[:2] == tuple(
        str(tmp_path / f"{n}.workbench") for n in (15, 19)
    )
    store.clear_recent()
    store.close()
    assert SettingsStore(tmp_path).settings.recent_files == ()


@pytest.mark.parametrize(
    "text", ["", "{", "[1]", "NaN", '{"version": 99}', '{"version": 1, "version": 1}']
)
def test_a_damaged_file_is_kept_aside(tmp_path, text):
    store = stored(tmp_path, text)
    assert store.settings == Settings()
    assert "settings.damaged-1.json" in store.note
    store.change(theme="light")
    store.close()
    assert (tmp_path / "settings.damaged-1.json").read_text() == text
    assert SettingsStore(tmp_path).settings.get(THEME) == "light"


def test_one_wrong_field_does_not_take_the_others_along(tmp_path):
    plain = {"version": 1, "theme": 7, "recent_files": ["/a"], "runs_folder": "/b", "unknown": 1}
    store = stored(tmp_path, json.dumps(plain))
    assert store.settings == Settings().changed(recent_files=("/a",), runs_folder="/b")
    assert "theme" in store.note


def test_settings_of_earlier_versions_are_left_out(tmp_path):
    plain = {"version": 1, "theme": "dark", "autosave_seconds": 600, "offers_recovery": False}
    store = stored(tmp_path, json.dumps(plain))
    assert (store.settings, store.note) == (Settings().changed(theme="dark"), "")
    store.change(theme="light")
    store.close()
    assert not {"autosave_seconds", "offers_recovery"} & json.loads(store.path.read_text()).keys()


def test_version_0_is_migrated(tmp_path):
    store = stored(tmp_path, '{"version": 0, "dark": true, "recent": ["/a", "/b"]}')
    assert store.settings == Settings().changed(theme="dark", recent_files=("/a", "/b"))
    assert store.note == ""


def test_a_folder_that_cannot_be_written_is_reported(tmp_path):
    (tmp_path / "file").write_text("")
    store = SettingsStore(tmp_path / "file")
    store.change(theme="dark")
    store.close()
    assert store.settings.get(THEME) == "dark"
    assert "could not be" in store.note


@given(
    st.builds(
        Settings().changed,
        theme=st.sampled_from(["system", "light", "dark"]),
        animates=st.booleans(),
        recent_files=st.lists(
            st.text(st.characters(exclude_categories=["Cs"])), max_size=12, unique=True
        ).map(tuple),
    )
)
def test_settings_survive_their_file(settings):
    text = settings_text(settings)
    assert parse_settings(text) == (settings, "")
