"""What plug-in files declare, and that it fits the recipe."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from workbench.core.registry import Registry
from workbench.core.specs import (
    DatasetSpec,
    ExportSpec,
    FilePart,
    LayerSpec,
    LoadedData,
    least_classes,
    shared_params,
)
from workbench.core.specs.dataset import parts_of
from workbench.core.training.fields import setting
from workbench.core.training.fields.basics import BasicFields
from workbench.core.training.optimizers import all_optimizers
from workbench.core.training.schedules import all_schedules
from workbench.errors import RegistryError

LAYERS = Registry.from_package("workbench.layers", LayerSpec)


@pytest.mark.parametrize(
    ("params", "words"),
    [({"path": "/data/flowers"}, "flowers"), ({"path": "/"}, "Folder"), ({}, "Folder")],
)
def test_a_source_of_files_is_named_after_them(params, words):
    spec = DatasetSpec(key="own", title="Folder", summary="", load=lambda context, params: None)
    assert replace(spec, source_param="path").name_of(params) == words


def test_the_parts_of_a_data_set_that_hold_images_are_named():
    def part(count):
        return FilePart(("x.png",) * count, np.zeros(count, np.int64))

    loaded = LoadedData(("a", "b"), part(3), test=part(0), validation=part(2))
    found = [(name, len(each)) for name, each in parts_of(loaded)]
    assert found == [("train", 3), ("validation", 2)]


def test_a_recipe_has_every_parameter_that_a_plug_in_uses(monkeypatch):
    adam = all_optimizers()["adam"]
    broken = replace(adam, uses=(*adam.uses, "no_such_parameter"))
    monkeypatch.setattr(setting, "PLUG_INS", ({"adam": broken},))
    with pytest.raises(RegistryError) as caught:
        setting.declared(BasicFields)
    assert caught.value.received == "no_such_parameter"


def test_a_rate_that_drops_at_every_step_has_no_marks():
    drops = all_schedules()["step"].drops
    values = {"decay_every_epochs": 1e-6, "decay_factor": 0.5}
    assert drops(values, 1_000_000, 1).size == 0


def test_one_kind_shares_all_its_parameters():
    conv = LAYERS["conv2d"]
    assert shared_params([conv, conv]) == conv.params
    assert shared_params([]) == ()


def test_kinds_share_what_allows_the_same_values():
    kinds = [LAYERS[key] for key in ("conv2d", "dense")]
    keys = {param.key for param in shared_params(kinds)}
    assert {"activation", "use_bias"} <= keys
    assert keys.isdisjoint({"filters", "units", "kernel_size"})
    assert shared_params([LAYERS["conv2d"], LAYERS["flatten"]]) == ()
    pools = [LAYERS[key] for key in ("max_pooling2d", "average_pooling2d")]
    assert shared_params(pools) == pools[0].params


def test_an_export_has_its_own_ending_or_is_a_folder():
    folder = ExportSpec(key="a", title="A", summary="", suffix="", write=lambda _c, _path: None)
    file = replace(folder, suffix=".weights.h5")
    assert (folder.is_folder, file.is_folder) == (True, False)
    assert folder.named(Path("/x/a.b")) == Path("/x/a.b")
    assert file.named(Path("/x/a.b")) == Path("/x/a.b.weights.h5")
    assert file.named(Path("/x/a.weights.h5")) == Path("/x/a.weights.h5")


def test_a_data_set_needs_two_classes_but_where_its_context_says_so():
    assert least_classes(object()) == 2
    context = type("Context", (), {"least_classes": 1})()
    assert least_classes(context) == 1
