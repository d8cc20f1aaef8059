"""Looking at augmentation: training images as the input pipeline hands them to the network."""

from __future__ import annotations

import msgspec

from workbench.protocol.bases import FinalAnswer, Request


class AugmentedImage(msgspec.Struct, frozen=True, kw_only=True):
    """A training image and what augmentation makes of it, as PNG files of the session folder.

    Attributes:
        index: Index of the image in the training part.
        label: Name of its class.
        file: The file it is in; "" where it is in none, or its name is no Unicode.
        original: Fitted to the network's input, not augmented.
        variants: What each step makes of it.
    """

    index: int
    label: str
    file: str = ""
    original: str
    variants: list[str]


class AugmentationPreview(FinalAnswer, frozen=True, kw_only=True, tag="augmentation_preview"):
    """Answer to PreviewAugmentation.

    Attributes:
        images: In the order of the indices; without those that cannot be read.
        num_train: How many images the project trains on.
    """

    images: list[AugmentedImage]
    num_train: int


class PreviewAugmentation(Request, frozen=True, kw_only=True, tag="preview_augmentation"):
    """Augments training images of a project (file text) as training does, and writes them as PNG
    files. Only its Input and the layers of its input pipeline need to be right.

    Attributes:
        indices: Images of the training part, as in ShowPicture; [] to have `count` chosen.
        count: How many are chosen.
        pick: Number of the choice: another one gives other images.
        variants: How many augmented images of each.
        step: The training step that the first variant is of; the others are of those after it.
        seed: Seed of the random numbers; None for the recipe's.
        bad_files: Files that are known to be unreadable: they are not trained on.
    """

    final_answer = AugmentationPreview

    project: str
    indices: list[int] = []
    count: int = 4
    pick: int = 0
    variants: int = 5
    step: int = 0
    seed: int | None = None
    bad_files: list[str] = []
