"""Files of pretrained weights from the internet, in Keras's own folder. Not a plug-in."""

from __future__ import annotations

import hashlib
from pathlib import Path

from workbench.core.specs import BackboneSpec, DownloadedWeights
from workbench.core.storage.own_file import replace_own
from workbench.downloads import Download, Progress, fetch, fetch_unknown, keras_folder

RECORD_SUFFIX = ".sha256"
"""Of the file that holds the checksum of a download whose makers publish none."""

_MOST_MORE = 2
"""A file whose checksum nobody publishes may be so many times as large as it was."""


def downloaded_path(weights: DownloadedWeights) -> Path:
    """Where the file of downloaded weights is or would be: in Keras's own folder."""
    return keras_folder("models") / weights.file_name


def bytes_to_fetch(spec: BackboneSpec) -> int:
    """What is still to be downloaded for a backbone, about; 0 for nothing. Looks at the disk."""
    weights = spec.weights
    if not isinstance(weights, DownloadedWeights) or downloaded_path(weights).is_file():
        return 0
    return weights.num_bytes


def fetch_weights(spec: BackboneSpec, ctx: Progress) -> None:
    """Downloads the weights of a backbone where they are not there yet.

    Raises:
        DownloadError: they cannot be downloaded.
        LinkFoundError: a link has the file's name.
    """
    weights = spec.weights
    if not isinstance(weights, DownloadedWeights) or not bytes_to_fetch(spec):
        return
    download = Download(
        spec.title, weights.address, weights.checksum, num_bytes=weights.num_bytes, kind="models"
    )
    path = downloaded_path(weights)
    if weights.checksum:
        fetch(download, path.parent, ctx)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.part")
    fetch_unknown(download, partial, ctx, max_bytes=_MOST_MORE * weights.num_bytes)
    with partial.open("rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    replace_own(path.with_name(path.name + RECORD_SUFFIX), checksum.encode())
    partial.replace(path)
