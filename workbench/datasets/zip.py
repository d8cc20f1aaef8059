"""A ZIP archive of class folders."""

from __future__ import annotations

from workbench.core.params import Params, PathParam
from workbench.core.specs import DatasetSpec, LoadContext, LoadedData
from workbench.datasets._archives.unpack import load_archive
from workbench.datasets._chosen_file import chosen_file
from workbench.datasets._class_parts import FIT

_WHAT = "a ZIP archive"


def _load(ctx: LoadContext, params: Params) -> LoadedData:
    path = chosen_file(
        str(params.get("path", "")),
        _WHAT,
        expected=f"{_WHAT} with one folder of images per class",
        for_folder="Choose it as an image folder.",
    )
    return load_archive(ctx, path, "zip")


SPEC = DatasetSpec(
    key="zip",
    title="ZIP archive",
    summary="Your own images in a ZIP archive, in one folder per class.",
    params=(
        PathParam(
            "path",
            "",
            "Contains one folder of images per class, at any depth, or the folders train and "
            "test (and validation) with such folders. It is unpacked once, into the cache.",
            title="File",
            patterns=("*.zip",),
        ),
        FIT,
    ),
    source_param="path",
    load=_load,
)
