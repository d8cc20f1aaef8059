"""The weights alone in the layout of Keras 2, for its programs: `model.load_weights("x.h5")`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.core.specs import ExportReader, ExportSpec
from workbench.exports._lite import python_runtime
from workbench.parts import KERAS2
from workbench.programs.training import layer_lines, names_of, output_of, without


def _write(context: Any, path: str) -> None:
    context.refuse_other_keras2(_calls(context))
    context.write_keras2_weights(Path(path))
    context.compare_weights(Path(path))


def _values(context: Any, _path: Path) -> Mapping[str, Any]:
    """The network as a program of Keras 2."""
    calls = _calls(context)
    names = names_of(context.keras_calls())
    return {
        "layers": "\n".join(layer_lines(calls, names, is_keras2=True)),
        "output": output_of(calls, names),
    }


def _calls(context: Any) -> list[Any]:
    """The layers that classify: those that change training images alone are left out, as Keras 2
    has fewer arguments for them.
    """
    return without(context.keras_calls(), lambda call: call.spec.place == "pipeline")


SPEC = ExportSpec(
    key="weights_keras2",
    title="Keras 2 weights",
    summary="The weights alone, for a program of Keras 2 (tf.keras up to TensorFlow 2.15, or "
    "tf_keras) that builds the same layers in the same order.",
    # Not ".weights.h5": Keras 2 expects another layout in a file that ends so.
    suffix=".keras2.h5",
    group="Keras and Python",
    order=2,
    write=_write,
    reader=ExportReader(
        runtime=python_runtime("tf_keras", "tf_keras", KERAS2),
        section="keras2_weights",
        values=_values,
        needs_tensorflow=True,
        has_softmax=False,
    ),
)
