"""All that the start page offers trains at once, or shows what it needs; without a network."""

from __future__ import annotations

import pytest

from workbench.datasets import all_datasets
from workbench.templates import list_templates

pytestmark = [pytest.mark.end2end, pytest.mark.timeout(600)]

TEMPLATES = {template.key: template for template in list_templates()}
DOWNLOADED = {
    key
    for key, template in TEMPLATES.items()
    if all_datasets()[template.project.dataset.key].needs_download
}


@pytest.fixture(scope="module")
def seen(at_screen):
    """What came of each press, by the template's key."""
    return at_screen("hands.every_card", is_offline=True)


def test_every_card_of_the_page_was_pressed(seen):
    titles = {TEMPLATES[key].title for key in seen["seen"] if key in TEMPLATES}
    assert titles == {template.title for template in TEMPLATES.values()}
    assert set(seen["cards"]) <= titles | {"Your own pictures", "Blank canvas"}
    assert {"own", "blank"} <= set(seen["seen"])


@pytest.mark.parametrize("key", sorted(TEMPLATES.keys() - DOWNLOADED))
def test_what_is_included_trains_at_the_first_press(seen, key):
    trained = seen["seen"][key]
    assert trained["runs"] == 1
    assert trained["steps"] > 1
    is_whole = key == "fashion_convnet"
    assert trained["outcome"] == ("completed" if is_whole else "stopped")
    assert trained["tested"] == all_datasets()[TEMPLATES[key].project.dataset.key].num_test
    assert not trained["words"] or "Images included" in trained["words"]


@pytest.mark.parametrize("key", sorted(DOWNLOADED))
def test_what_must_be_downloaded_says_so_and_records_no_run(seen, key):
    pressed = seen["seen"][key]
    assert pressed["runs"] == 0
    assert "No connection" in pressed["problem"]
    assert "170 MB" in pressed["problem"]
    assert (pressed["button"], pressed["leads_to"]) == ("Choose other images…", "data")
    assert not pressed["words"] or "Downloads 170 MB" in pressed["words"]


def test_own_images_are_asked_for(seen):
    own = seen["seen"]["own"]
    assert "Needs your images" in own["words"]
    assert own["title"] == "Choose a folder with one folder per class"
    assert own["view"] == "welcome"


def test_an_empty_network_says_what_comes_first(seen):
    assert "Add an Input" in seen["seen"]["blank"]["problem"]
    assert seen["seen"]["blank"]["runs"] == 0
