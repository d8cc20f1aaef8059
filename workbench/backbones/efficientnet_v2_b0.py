"""EfficientNetV2 B0: a pretrained network."""

from __future__ import annotations

from workbench.core.specs import BackboneSpec, DownloadedWeights

SPEC = BackboneSpec(
    key="efficientnet_v2_b0",
    title="EfficientNetV2 B0",
    summary="Accurate for its size; slower than MobileNetV2.",
    license="Apache-2.0",
    source="https://keras.io/api/applications/efficientnet_v2/",
    num_parameters=5_919_318,
    num_features=1_280,
    weights=DownloadedWeights(
        "https://storage.googleapis.com/tensorflow/keras-applications/"
        "efficientnet_v2/efficientnetv2-b0_notop.h5",
        checksum="893217f2bb855e2983157299931e43ff",
        num_bytes=24_274_472,
    ),
    order=5,
)
