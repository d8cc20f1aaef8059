"""What TensorBoard shows of an event: tags and values, as the files of `curves/` name them.

train/        batch_loss, batch_accuracy, learning_rate, epoch_loss, epoch_accuracy,
              images_per_second
validation/   epoch_loss, epoch_accuracy, epoch_top_k_accuracy

The tags are those of Keras's callback, so that old boards and new runs lie on top of each
other.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.curves import CurveSpec, all_curves
from workbench.protocol.events import Batch, EpochFinished

Scalars = dict[str, float]


def batch_scalars(event: Batch) -> Scalars:
    """Values of training at a Batch event, by tag."""
    curves = [(curve, curve.batch) for curve in all_curves().values() if curve.batch_tag]
    return _known((curve, curve.batch_tag, of(event)) for curve, of in curves if of)


def epoch_scalars(event: EpochFinished) -> Scalars:
    """Values of an epoch's training, by tag."""
    curves = [(curve, curve.epoch) for curve in all_curves().values() if curve.epoch_tag]
    found = _known((curve, curve.epoch_tag, of(event)) for curve, of in curves if of)
    speed = event.images_per_second
    return found | ({"images_per_second": speed} if speed else {})


def validation_scalars(event: EpochFinished) -> Scalars:
    """Values of an epoch's validation, by tag; none where nothing was validated."""
    curves = [(curve, curve.validation) for curve in all_curves().values() if curve.epoch_tag]
    values = [(curve, curve.epoch_tag, of(event)) for curve, of in curves if of]
    is_validated = any(value is not None for curve, _, value in values if not curve.is_optional)
    return _known(values) if is_validated else {}


def _known(values: Iterable[tuple[CurveSpec, str, float | None]]) -> Scalars:
    """What was not finite is NaN; what was not measured is left out."""
    return {
        tag: float("nan") if value is None else value
        for curve, tag, value in values
        if value is not None or not curve.is_optional
    }
