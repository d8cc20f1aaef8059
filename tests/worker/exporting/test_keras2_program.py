"""The program of Keras 2 beside its weights: what Keras 2 names otherwise, and what it has not."""

from __future__ import annotations

import pytest

from tests.worker.conftest import chain
from tests.worker.exporting.conftest import make_run
from tests.worker.exporting.test_formats import exported
from workbench.protocol.export import Export

pytestmark = pytest.mark.worker

FORMAT = "weights_keras2"


def network(*layers):
    last = ("flatten", {}), ("dense", {"units": 3})
    return chain(("input", {"shape": (12, 16, 3)}), ("rescaling", {}), *layers, *last)


def test_arguments_have_the_names_of_keras_2(service, tmp_path):
    turned = ("random_contrast", {})
    graph = chain(
        ("input", {"shape": (12, 16, 3)}),
        turned,
        ("rescaling", {}),
        ("leaky_relu", {"negative_slope": 0.7}),
        ("flatten", {}),
        ("dense", {"units": 3}),
    )
    run = make_run(tmp_path, graph)
    proof = exported(service, run, FORMAT, tmp_path / "ready", is_ready_folder=True)
    assert proof.max_difference < 1e-5
    assert "layers.LeakyReLU(alpha=0.7)" in (tmp_path / "ready" / "classify.py").read_text()


@pytest.mark.parametrize(
    ("layer", "found"),
    [
        (("resizing", {"height": 6, "width": 8, "fit": "pad"}), "pad_to_aspect_ratio"),
        (("activation", {"activation": "celu"}), "activation_3"),
        (("activation", {"activation": "hard_sigmoid"}), "a probability differs"),
    ],
)
def test_what_keras_2_computes_otherwise_is_refused(layer, found, service, tmp_path):
    run = make_run(tmp_path, network(("rescaling", {"scale": 3.0, "offset": -1.0}), layer))
    path = tmp_path / "m.keras2.h5"
    error = service.failed(Export, model=str(run.path), format=FORMAT, path=str(path))
    assert found in f"{error.what} {error.received}"
    assert not path.exists()
