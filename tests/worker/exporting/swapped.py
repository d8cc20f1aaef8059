"""Makes an export wrong, as a converter might: the weights of one layer in another order."""

from __future__ import annotations

import numpy as np

from tests.worker.exporting.conftest import weights_of


def swap_weights(run, layer):
    """Changes the kernel of a layer in an ONNX file, whatever the order of its axes there."""
    kernel = weights_of(run, layer)
    forms = [kernel, kernel.transpose(3, 2, 0, 1)] if kernel.ndim == 4 else [kernel, kernel.T]

    def change(path):
        data = path.read_bytes()
        found = [form for form in map(np.ascontiguousarray, forms) if form.tobytes() in data]
        assert found, "the kernel is not in the file"
        wrong = np.ascontiguousarray(found[0][::-1])
        path.write_bytes(data.replace(found[0].tobytes(), wrong.tobytes()))

    return change
