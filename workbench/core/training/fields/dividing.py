"""The section of how images are divided into training, validation and test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workbench.core.params import ChoiceParam, IntParam, TextParam
from workbench.core.training.fields.setting import setting

MAX_FOLDS = 100


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class DividingFields:
    """How the images are divided."""

    SECTION: ClassVar[str] = "Split"

    split: str = setting(
        ChoiceParam,
        "order",
        "By content: exact duplicates always land in the same part, renaming files changes "
        "nothing, and images that are added later move none of the others. By order: by the "
        "place of an image in the list of all.",
        title="Split",
        choices=("order", "content"),
        of_new="content",
        titles={"order": "by order", "content": "by content"},
        is_advanced=True,
    )
    group_by: str = setting(
        ChoiceParam,
        "none",
        "Images of one group stay in one part: those in the same subfolder of their class, or "
        "those whose file names are alike up to the last _ or - with a number or a letter, such "
        "as patient07_1 and patient07_2.",
        title="Groups",
        used_if=lambda recipe: recipe.split == "content",
        choices=("none", "subfolder", "prefix"),
        titles={"prefix": "name prefix"},
        is_advanced=True,
    )
    group_pattern: str = setting(
        TextParam,
        "",
        "Regular expression that finds the group in a file name without its extension: its "
        "first group in parentheses, or all that it matches. Empty: the rule for prefixes.",
        title="Pattern of groups",
        used_if=lambda recipe: recipe.split == "content" and recipe.group_by == "prefix",
        is_advanced=True,
    )
    split_seed: int | None = setting(
        IntParam,
        None,
        "Random seed of the split alone, so that other weights can be trained on the same "
        "split. As Seed: it has the seed of the training.",
        title="Seed of the split",
        minimum=0,
        maximum=2**31 - 1,
        none_text="as Seed",
        is_advanced=True,
    )
    folds: int | None = setting(
        IntParam,
        None,
        "Cross-validation: the images that are not for testing are divided into this many "
        "parts, of which one is held out for validation.",
        title="Folds",
        used_if=lambda recipe: recipe.validation == "split",
        minimum=2,
        maximum=MAX_FOLDS,
        none_text="off",
        is_advanced=True,
    )
    fold: int = setting(
        IntParam,
        1,
        "Which fold is held out for validation, from 1.",
        title="Fold",
        used_if=lambda recipe: recipe.validation == "split" and recipe.folds is not None,
        maximum=MAX_FOLDS,
        is_advanced=True,
    )
