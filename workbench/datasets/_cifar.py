"""What CIFAR-10 and CIFAR-100 share: an archive of pickled batches of 32 × 32 images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.core.params import Params
from workbench.core.specs import DatasetSpec, LoadContext, LoadedData
from workbench.datasets._array_cache import cached_data
from workbench.datasets._pickled_batch import read_batch
from workbench.datasets._tar_members import read_tar_members
from workbench.downloads.download import Download, keras_folder
from workbench.downloads.fetch import fetch
from workbench.errors import DatasetError


def cifar_spec(
    *, download: Download, train: Sequence[str], test: str, labels_key: str, **more: Any
) -> DatasetSpec:
    """The SPEC of one of the two.

    Args:
        download: The archive.
        train: Member names of the training batches, in order.
        test: Member name of the test batch.
        labels_key: Key of the labels in each batch.
        more: As of DatasetSpec.
    """

    def load(ctx: LoadContext, params: Params) -> LoadedData:
        archive = fetch(download, keras_folder(), ctx)

        def unpack() -> Mapping[str, Any]:
            ctx.progress(f"Unpacking {download.title}")
            members = read_tar_members(archive, [*train, test])
            arrays = {}
            for part, names in (("train", train), ("test", [test])):
                batches = [_arrays(members[name], labels_key, name) for name in names]
                arrays[f"x_{part}"] = np.concatenate([x for x, _ in batches])
                arrays[f"y_{part}"] = np.concatenate([y for _, y in batches])
            return arrays

        return cached_data(ctx, "cifar", archive, more["class_names"], unpack)

    return DatasetSpec(
        title=download.title,
        license="none stated; the authors ask to be cited (Krizhevsky 2009)",
        shape=(32, 32, 3),
        num_train=50_000,
        num_test=10_000,
        downloads=(download,),
        program=f"return keras.datasets.{more['key']}.load_data()",
        load=load,
        **more,
    )


def _arrays(data: bytes, labels_key: str, where: str) -> tuple[Any, Any]:
    """Images (n, 32, 32, 3) and labels (n,) of one batch."""
    batch = read_batch(data, where)
    rows: Any = batch.get("data")
    labels = np.asarray(batch.get(labels_key), dtype=object)
    is_rows = isinstance(rows, np.ndarray) and rows.dtype == np.uint8 and rows.ndim == 2
    if not is_rows or rows.shape != (len(labels) if labels.ndim == 1 else -1, 3072):
        raise DatasetError(
            "The batch does not contain images and labels.",
            where=where,
            received=f"keys {', '.join(sorted(batch))}"[:200],
            expected=f"data of (n, 3072) bytes and n {labels_key}",
        )
    pictures = rows.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(pictures), labels.astype(np.int64)
