"""What the data sets of archives share: a form, and class folders inside a file."""

from __future__ import annotations

from functools import partial

from workbench.core.params import Params, PathParam
from workbench.core.specs import DatasetSpec, LoadContext, LoadedData
from workbench.datasets._archives.unpack import NAMES, Kind, load_archive
from workbench.datasets._chosen_file import chosen_file
from workbench.datasets._class_parts import FIT, READING
from workbench.datasets._look_alikes import LOOK_ALIKES
from workbench.datasets._value_range import RANGE

_CONTENTS = (
    "Contains one folder of images per class, at any depth, or the folders train and "
    "test (and validation) with such folders. It is unpacked once, into the cache."
)


def archive_source(
    kind: Kind, title: str, *, patterns: tuple[str, ...], endings: str = ""
) -> DatasetSpec:
    """The data set of an archive of class folders.

    Args:
        kind: Its key.
        title: Its title, e.g. "ZIP archive".
        patterns: Glob patterns of the names of such files.
        endings: The same for people, behind the title in its summary; "" where the title says it.
    """
    return DatasetSpec(
        key=kind,
        title=title,
        summary=f"Your own images in a {title}{endings}, in one folder per class.",
        params=(
            PathParam(
                "path",
                "",
                _CONTENTS,
                title="File",
                patterns=patterns,
            ),
            FIT,
            *READING,
            LOOK_ALIKES,
            NAMES,
            RANGE,
        ),
        source_param="path",
        load=partial(_load, kind, f"a {title}"),
    )


def _load(kind: Kind, what: str, ctx: LoadContext, params: Params) -> LoadedData:
    path = chosen_file(
        str(params.get("path", "")),
        what,
        expected=f"{what} with one folder of images per class",
        for_folder="Choose it as an image folder.",
    )
    return load_archive(ctx, path, kind, params)
