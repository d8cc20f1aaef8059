"""The phases of a training: the head on frozen layers first, then fine-tuning."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.core.training.recipe import TrainingRecipe


@dataclass(frozen=True)
class Phase:
    """Consecutive epochs with one set of trainable layers: of the head, or of fine-tuning.

    Attributes:
        recipe: By which it is trained; its learning rate is that of this phase.
        first_epoch: Epochs before it.
        end_epoch: Epochs done when it is over.
        is_fine_tuning: Whether the layers marked for fine-tuning learn.
    """

    recipe: TrainingRecipe
    first_epoch: int
    end_epoch: int
    is_fine_tuning: bool = False

    def learns(self, training: str) -> bool:
        """Whether the weights of a layer with that value of `Node.training` change in it."""
        return training == "always" or (self.is_fine_tuning and training == "fine_tuning")


def phases_of(recipe: TrainingRecipe) -> tuple[Phase, ...]:
    """The phases of a training in their order, one or two."""
    head = Phase(recipe, 0, recipe.head_epochs)
    if not recipe.has_fine_tuning:
        return (head,)
    tuning = Phase(recipe.in_fine_tuning(), head.end_epoch, recipe.epochs, is_fine_tuning=True)
    return head, tuning


def phase_after(recipe: TrainingRecipe, epochs_done: int) -> Phase:
    """The phase that the next epoch belongs to; the last one when all are done."""
    phases = phases_of(recipe)
    return next((phase for phase in phases if epochs_done < phase.end_epoch), phases[-1])
