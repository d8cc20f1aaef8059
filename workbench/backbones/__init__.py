"""The pretrained networks, one file each: SPEC. Found by walking this folder.

Their layers are ordinary ones: `insert_backbone` puts them into a graph, where every layer names
its initial weights in `Node.pretrained`.
"""

from __future__ import annotations

from functools import cache

from workbench.backbones._block import Block as Block
from workbench.backbones._block import SourceArray as SourceArray
from workbench.backbones._block import block_of as block_of
from workbench.backbones._insertion import Inserted as Inserted
from workbench.backbones._insertion import insert_backbone as insert_backbone
from workbench.core.registry import Registry
from workbench.core.specs import BackboneSpec


@cache
def all_backbones() -> Registry[BackboneSpec]:
    """Every pretrained network by key."""
    return Registry.from_package("workbench.backbones", BackboneSpec)
