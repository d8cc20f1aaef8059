"""The weights of a run: which of them are kept, and loading those of others into one."""

from __future__ import annotations

from typing import Literal

import msgspec

from workbench.protocol.bases import Answer, Request
from workbench.protocol.messages import Done

# backbone ------------------------------------------------------------------------------------
# Downloading the weights of a pretrained network: the request.


class FetchBackbone(Request, frozen=True, kw_only=True, tag="fetch_backbone"):
    """Downloads the weights of a pretrained network, where they are not here yet, and checks them.
    Answer: Done with the `path` of the file.
    """

    final_answer = Done

    key: str


# weights -------------------------------------------------------------------------------------


class KeptWeights(msgspec.Struct, frozen=True, kw_only=True):
    """Which weights a run has saved: those that classify, and are tested and exported.

    Attributes:
        epoch: The last epoch they have finished, 0 for none.
        kind: "last" or "best".
        is_partial: They have trained steps beyond that epoch: the run was stopped within the next.
        is_averaged: They are the moving average of the weights (EMA).
        val_accuracy: Validation accuracy of that epoch, 0..1; None where it was not measured for
            these weights.
        is_chosen_on_test: The best epoch was chosen by the test images, which also test it.
    """

    epoch: int
    kind: str = "last"
    is_partial: bool = False
    is_averaged: bool = False
    val_accuracy: float | None = None
    is_chosen_on_test: bool = False


WEIGHTS_ENDINGS = (".weights.h5", ".h5", ".hdf5", ".keras")
"""How the files end that weights are loaded from."""


RESULT_ENDING = ".zip"
"""How the file ends that an exported notebook leaves."""


LayerOrder = Literal["", "file"]

MatchedBy = Literal["", "names", "structure", "order"]
"""What says which layer of a file is which of the network: their names, the network that the file
describes, or the order of the layers."""


class ClassOrder(msgspec.Struct, frozen=True, kw_only=True):
    """An order in which the classes of a weights file may be.

    Attributes:
        key: "data" (as the project has them), "code_point", "original", "natural"; "best_fit" for
            the one that fits the images best.
        title: Where such an order comes from, in words.
        names: The class of each output.
        accuracy: On the images that were measured, 0..1; None where there were none.
    """

    key: str
    title: str
    names: list[str]
    accuracy: float | None = None


class LoadFindings(Answer, frozen=True, kw_only=True, tag="load_findings"):
    """What was inferred about a weights file, before LoadWeights ends in Done, or in Failed where
    the order of its classes has to be given.

    Attributes:
        matched_by: What said which layer of the file is which of the network; "" for a notebook's
            result.
        doubts: Sentences about what may be otherwise.
        orders: The orders that its classes may have, where they were compared.
        chosen: The key of the order taken; "" where none is, or the file or the user named them.
        num_images: How many images were measured.
        part: Which images.
    """

    matched_by: MatchedBy = ""
    doubts: list[str] = []
    orders: list[ClassOrder] = []
    chosen: str = ""
    num_images: int = 0
    part: str = ""


class LoadWeights(Request, frozen=True, kw_only=True, tag="load_weights"):
    """Makes a run of a project (file text) and a `.weights.h5` or `.keras` file, or the `.zip` of
    an exported notebook. Answer: LoadFindings; then Done with the `path` of the run folder: `run`,
    or a new one if empty.

    Attributes:
        project: Text of the project file.
        weights: Path of the weights.
        run: Folder of the new run.
        layer_order: "file" takes layers that could be exchanged in the order of the file.
        class_order: Key of the order that the classes of the file have; "" to find it out.
        class_names: Names of the outputs, in their order; empty to find them out.
    """

    final_answer = Done
    partial_answers = (LoadFindings,)

    project: str
    weights: str
    run: str = ""
    layer_order: LayerOrder = ""
    class_order: str = ""
    class_names: list[str] = []
