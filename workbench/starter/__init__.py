"""A project to start from for a data set: a network, a split and a recipe that fit what is there.

Decided here alone, by the number and the size of the images: a head on a frozen backbone, or a
template trained from scratch. `counts` looks at a folder without opening an image's pixels,
`transfer` makes a network on a pretrained one, and `choose` decides. `augmentation` suggests
augmentation layers by the table `resources/augmentation.toml`.
"""

from __future__ import annotations

from workbench.starter.augmentation import AugmentationAdvice as AugmentationAdvice
from workbench.starter.augmentation import suggest_augmentation as suggest_augmentation
from workbench.starter.choose import BY_DATA as BY_DATA
from workbench.starter.choose import DataFacts as DataFacts
from workbench.starter.choose import Start as Start
from workbench.starter.choose import Wish as Wish
from workbench.starter.choose import folder_facts as folder_facts
from workbench.starter.choose import start_for_data as start_for_data
from workbench.starter.choose import start_for_folder as start_for_folder
from workbench.starter.choose import start_for_template_of as start_for_template_of
from workbench.starter.choose import start_on as start_on
from workbench.starter.choose import usual_backbone as usual_backbone
from workbench.starter.counts import FolderCount as FolderCount
from workbench.starter.counts import count_folder as count_folder
