"""Writing a run, or a project as a program, in an export format."""

from __future__ import annotations

import msgspec

from workbench.protocol.bases import Answer, Request
from workbench.protocol.messages import Done

# report --------------------------------------------------------------------------------------
# Writing the report of a run.


class MakeReport(Request, frozen=True, kw_only=True, tag="report"):
    """Writes the report of a run, whatever it has, as HTML or PDF, by the ending of `path`.
    Answer: Done with the words to show.
    """

    final_answer = Done

    run: str
    path: str


# export --------------------------------------------------------------------------------------


class ExportProof(msgspec.Struct, frozen=True, kw_only=True):
    """How an export, read back by its own runtime, compares with the model.

    Attributes:
        format: Key of the format.
        path: Where it was written.
        bytes: Size of all its files.
        checked_pictures: Images that both have answered.
        is_noise: These are noise, as the test images are not at hand.
        max_difference: Largest difference of a probability; None where it is not finite.
        top1_agreement: Share of the images with the same most probable class.
        accuracy, model_accuracy: Accuracy of the export and of the model on them, 0..1; None for
            noise.
        milliseconds: For one image, in the export's runtime.
        peak_bytes: Most memory of the process that has read it back.
        reason: Why it does not agree, and was not written; "" where it does.
        layer: The first layer whose outputs differ then; "" where that is not known.
        created: Seconds since the epoch.
        checksum: Checksum of the weights, as in the model card.
    """

    format: str
    path: str
    bytes: int
    checked_pictures: int
    is_noise: bool = False
    max_difference: float | None = None
    top1_agreement: float = 0.0
    accuracy: float | None = None
    model_accuracy: float | None = None
    milliseconds: float = 0.0
    peak_bytes: int = 0
    reason: str = ""
    layer: str = ""
    created: float = 0.0
    checksum: str = ""


class Exported(Answer, frozen=True, kw_only=True, tag="exported"):
    """An export that agrees with its model, and is in its place."""

    proof: ExportProof


class Export(Request, frozen=True, kw_only=True, tag="export"):
    """Writes a run in an export format, reads it back and compares. Answers: Exported, and Done
    with the words to show.

    Attributes:
        is_ready_folder: `path` is a folder to be made, with the model, its facts, a script that
            classifies and texts.
    """

    final_answer = Done
    partial_answers = (Exported,)
    handler = "exporting"

    model: str
    format: str
    path: str
    is_ready_folder: bool = False


class ExportProject(Request, frozen=True, kw_only=True, tag="export_project"):
    """Writes a program that trains a project (file text) elsewhere. Answer: Done with words."""

    final_answer = Done

    project: str
    format: str
    path: str
