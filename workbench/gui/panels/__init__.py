"""The panels of the views: those of the program in one table, SPECS, others one file each: SPEC.

The code of a panel is imported inside `make`, as that of views is, so that it is loaded when the
view is shown. Panels import neither their view nor each other: what those of a view share is the
view's state, which is handed to them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from workbench.core.registry import Registry
from workbench.gui.common.view_spec import PanelSpec, imported

SPECS: tuple[PanelSpec[Any], ...] = (
    # The layer types, to be added.
    PanelSpec(
        key="palette",
        view="design",
        title="Layers",
        area="left",
        order=10,
        make=imported("workbench.gui.design.palette", "PalettePanel"),
        opened_by=("search_asked",),
        width_px=228,
    ),
    # The settings and numbers of what is selected.
    PanelSpec(
        key="inspector",
        view="design",
        title="Inspector",
        area="right",
        order=20,
        make=imported("workbench.gui.design.inspector", "InspectorPanel"),
        opened_by=("node_activated",),
        width_px=296,
    ),
    # The network that is trained on the images, and why; Train.
    PanelSpec(
        key="data_network",
        view="data",
        title="Network",
        area="top",
        order=10,
        make=imported("workbench.gui.data.network", "NetworkBox"),
    ),
    # The source of the images.
    PanelSpec(
        key="data_source",
        view="data",
        title="Data source",
        area="left",
        order=10,
        make=imported("workbench.gui.data.source", "DataSourceBox"),
    ),
    # How the images are divided into training, validation and test.
    PanelSpec(
        key="data_split",
        view="data",
        title="Split",
        area="left",
        order=20,
        make=imported("workbench.gui.data.split", "DataSplitPanel"),
    ),
    # What augmentation makes of the images.
    PanelSpec(
        key="data_augmentation",
        view="data",
        title="Augmentation",
        area="left",
        order=30,
        make=imported("workbench.gui.data.split", "DataAugmentationPanel"),
    ),
    # What the source holds: classes, counts, some images.
    PanelSpec(
        key="data_contents",
        view="data",
        title="Contents",
        area="right",
        order=30,
        make=imported("workbench.gui.data.contents", "DataPages"),
        stretch=1,
    ),
    # What is wrong with the images, and what to do about it.
    PanelSpec(
        key="data_check",
        view="data",
        title="Data check",
        area="bottom",
        order=40,
        make=imported("workbench.gui.data.check", "DataCheckPanel"),
    ),
    # The list of runs.
    PanelSpec(
        key="train_runs",
        view="train",
        title="Runs",
        area="left",
        order=10,
        make=imported("workbench.gui.train.runs.run_list", "RunListPanel"),
        width_px=264,
    ),
    # How the project is trained, and a warning above it where the next run would not fit.
    PanelSpec(
        key="train_recipe",
        view="train",
        title="Training settings",
        area="right",
        order=20,
        make=imported("workbench.gui.train.recipe", "RecipePanel"),
        width_px=300,
        height_px=560,
    ),
    # What the time of a training is spent on.
    PanelSpec(
        key="train_time",
        view="train",
        title="Where the time goes",
        area="right",
        order=30,
        make=imported("workbench.gui.train.time_spent", "TimeSpentBox"),
        height_px=110,
    ),
    # The scores of a run in all, and for each class.
    PanelSpec(
        key="evaluate_classes",
        view="evaluate",
        title="Classes",
        area="left",
        order=10,
        make=imported("workbench.gui.evaluate.confusion", "ClassesPanel"),
    ),
    # ROC and precision-recall curves of an evaluation, and thresholds of the classes.
    PanelSpec(
        key="evaluate_curves",
        view="evaluate",
        title="Curves",
        area="left",
        order=12,
        make=imported("workbench.gui.evaluate.curves", "CurvesPanel"),
    ),
    # The images of an evaluation: of a cell of the matrix, or those with the largest losses.
    PanelSpec(
        key="evaluate_images",
        view="evaluate",
        title="Images",
        area="left",
        order=15,
        make=imported("workbench.gui.evaluate.images", "ImagesPanel"),
        opened_by=("images_wanted", "images_picked", "slice_wanted"),
    ),
    # Accuracy on slices of the evaluated images.
    PanelSpec(
        key="evaluate_slices",
        view="evaluate",
        title="Slices",
        area="left",
        order=16,
        make=imported("workbench.gui.evaluate.slices", "SlicesPanel"),
    ),
    # How far the probabilities can be trusted, and from where on an answer is "unknown".
    PanelSpec(
        key="evaluate_calibration",
        view="evaluate",
        title="Calibration",
        area="left",
        order=17,
        make=imported("workbench.gui.evaluate.calibration", "CalibrationPanel"),
    ),
    # The confusion matrix.
    PanelSpec(
        key="evaluate_confusion",
        view="evaluate",
        title="Confusion matrix",
        area="right",
        order=20,
        make=imported("workbench.gui.evaluate.confusion", "ConfusionPanel"),
        opened_by=("cell_pointed",),
    ),
    # All images of the run as points in a plane.
    PanelSpec(
        key="evaluate_map",
        view="evaluate",
        title="Map",
        area="right",
        order=25,
        make=imported("workbench.gui.evaluate.map", "MapPanel"),
    ),
    # Accuracy on altered test images, beside the scores.
    PanelSpec(
        key="evaluate_robustness",
        view="evaluate",
        title="Robustness",
        area="right",
        order=26,
        make=imported("workbench.gui.evaluate.robustness", "RobustnessPanel"),
    ),
    # The image and its answer, large.
    PanelSpec(
        key="classify_result",
        view="classify",
        title="Prediction",
        area="left",
        order=10,
        make=imported("workbench.gui.classify.result_card", "ResultCard"),
        stretch=1000,  # what a list does not need makes the picture large
        waits="picture",
    ),
    # The sources of images to classify.
    PanelSpec(
        key="classify_pictures",
        view="classify",
        title="Pictures",
        area="left",
        order=11,
        make=imported("workbench.gui.classify.pictures", "PicturesPanel"),
        stretch=1,
        waits="list",
    ),
    # A second model's answer beside that of the first.
    PanelSpec(
        key="classify_compare",
        view="classify",
        title="Comparison",
        area="left",
        order=12,
        make=imported("workbench.gui.classify.compare", "ComparisonPanel"),
        waits="picture",
    ),
    # The training images that look most like the picture to the network.
    PanelSpec(
        key="classify_nearest",
        view="classify",
        title="Nearest training images",
        area="left",
        order=12,
        make=imported("workbench.gui.classify.nearest", "NearestPanel"),
        waits="picture",
    ),
    # What the network answers if the picture is altered.
    PanelSpec(
        key="classify_what_if",
        view="classify",
        title="What-if",
        area="left",
        order=15,
        make=imported("workbench.gui.classify.what_if", "WhatIfPanel"),
        waits="picture",
    ),
    # The images that were classified before.
    PanelSpec(
        key="classify_earlier",
        view="classify",
        title="Recent predictions",
        area="left",
        order=30,
        make=imported("workbench.gui.classify.pictures", "EarlierPanel"),
    ),
    # The places of the image that count for a class.
    PanelSpec(
        key="classify_explanation",
        view="classify",
        title="Explanation",
        area="right",
        order=40,
        make=imported("workbench.gui.classify.explain", "ExplanationPanel"),
        opened_by=("class_chosen",),
    ),
    # What each layer of the network gives for the picture.
    PanelSpec(
        key="classify_feature_maps",
        view="classify",
        title="Feature maps",
        area="right",
        order=50,
        make=imported("workbench.gui.classify.feature_maps", "FeatureMapsPanel"),
        opened_by=("layer_chosen",),
    ),
)
"""By view, and then in their order there."""


@cache
def all_panels() -> Registry[PanelSpec[Any]]:
    """Every panel by key."""
    return Registry.from_package("workbench.gui.panels", PanelSpec)


def panels_of(view: str) -> list[PanelSpec[Any]]:
    """The panels of a view, in their order."""
    return [spec for spec in all_panels().values() if spec.view == view]
