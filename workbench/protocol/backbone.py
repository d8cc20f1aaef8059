"""Downloading the weights of a pretrained network: the request."""

from __future__ import annotations

from workbench.protocol.bases import Request
from workbench.protocol.messages import Done


class FetchBackbone(Request, frozen=True, kw_only=True, tag="fetch_backbone"):
    """Downloads the weights of a pretrained network, where they are not here yet, and checks them.
    Answer: Done with the `path` of the file.
    """

    final_answer = Done

    key: str
