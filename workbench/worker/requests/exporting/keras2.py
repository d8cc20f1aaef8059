"""Whether Keras 2 has the layers of a network."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.specs import Role
from workbench.errors import SaveError
from workbench.worker.requests.keras_calls import KerasCall

_MOST_WORDS = 300


def refuse_unknown_layers(calls: Sequence[KerasCall]) -> None:
    """Raises SaveError for the first of some layers that `tf_keras` has not, or not with these
    arguments.
    """
    import tf_keras

    for call in calls:
        if call.spec.role is Role.INPUT:
            continue
        named = {call.spec.keras2_names.get(key, key): v for key, v in call.arguments.items()}
        try:
            getattr(tf_keras.layers, call.spec.title)(**call.required, **named)
        except (AttributeError, TypeError, ValueError) as error:
            raise SaveError(
                f"Keras 2 does not have the layer “{call.name}” as it is here.",
                where=call.name,
                received=" ".join(str(error).split())[:_MOST_WORDS],
                fix="Choose another format, or another setting of that layer.",
            ) from error
