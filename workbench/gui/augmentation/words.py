"""What augmentation costs, and what the training settings add to it, in sentences. Qt-free."""

from __future__ import annotations

from workbench.core.checks.analysis import Analysis
from workbench.core.format import share
from workbench.core.training.recipe import RECIPE_PARAMS, TrainingRecipe


def cost_words(analysis: Analysis, recipe: TrainingRecipe, *, is_augmented: bool) -> str:
    """How often the images are augmented, and what that costs."""
    if not analysis.phases[0].copies:
        return "Every image is augmented differently in each epoch." if is_augmented else ""
    copies = recipe.augmented_copies
    if not is_augmented:
        return (
            "The features of the frozen layers are computed once for each image. With "
            f"augmentation there are {copies} copies of it: that takes {copies} times as long."
        )
    if copies == 1:
        return "One augmented copy of each image is made, as the layers behind it are frozen."
    return (
        f"{copies} augmented copies of each image: features of the frozen layers take "
        f"{copies} times as long. The number is in the training settings (Fine-tuning)."
    )


def recipe_words(recipe: TrainingRecipe) -> str:
    """What the recipe does to the images behind these layers; "" for nothing."""
    parts = []
    if recipe.random_erasing:
        parts.append(f"random erasing of {share(recipe.random_erasing, 0)} of the images")
    if recipe.mixing != "none":
        mixing = next(p for p in RECIPE_PARAMS if p.key == "mixing")
        parts.append(mixing.show(recipe.mixing))
    return f"Then, by the training settings: {' and '.join(parts)}." if parts else ""
