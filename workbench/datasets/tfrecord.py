"""TFRecord files of images and labels, here or on the internet."""

from __future__ import annotations

from workbench.core.params import Params, PathParam, TextParam
from workbench.core.specs import DatasetSpec, LoadContext, LoadedData
from workbench.datasets._class_parts import FIT, LOOK_ALIKES, RANGE
from workbench.datasets._labels.texts import ENCODING, MISSING_LABELS
from workbench.datasets._records.features import Keys
from workbench.datasets._records.parts import address_hosts, record_files
from workbench.datasets._records.unpack import load_records


def _load(ctx: LoadContext, params: Params) -> LoadedData:
    text = str(params.get("path", ""))
    image, label, split = (str(params.get(key, "")) for key in ("image", "label", "split"))
    given = Keys(image, label, split=split)
    return load_records(ctx, record_files(ctx, text), given, text, params)


def _addresses(params: Params) -> tuple[str, ...]:
    return address_hosts(str(params.get("path", "")))


SPEC = DatasetSpec(
    key="tfrecord",
    title="TFRecord files",
    summary="Records of images and labels as TensorFlow writes them: files of this computer, or "
    "an address (https://, gs://).",
    params=(
        PathParam(
            "path",
            "",
            "A file, a pattern such as data/*.tfrec, a folder of such files, or an address that "
            "begins with https:// or gs://. Names with train, valid or test name the part.",
            title="File",
            patterns=("*.tfrec", "*.tfrecord", "*.tfrecords", "*.tfrecord-*", "*.tfrec.gz"),
            is_glob=True,
        ),
        TextParam(
            "image",
            "",
            "The feature with the encoded image; empty: it is found in the first record.",
            title="Image feature",
            is_advanced=True,
        ),
        TextParam(
            "label",
            "",
            "The feature with the label; empty: it is found in the first record, text first.",
            title="Label feature",
            is_advanced=True,
        ),
        TextParam(
            "split",
            "",
            "The feature with train, valid or test; none for no parts at all; empty: found by its "
            "name and its words, or else the names of the files tell.",
            title="Split feature",
            is_advanced=True,
        ),
        ENCODING,
        MISSING_LABELS,
        LOOK_ALIKES,
        FIT,
        RANGE,
    ),
    source_param="path",
    addresses=_addresses,
    load=_load,
)
