"""MobileNetV3 Small: a pretrained network."""

from __future__ import annotations

from workbench.core.specs import BackboneSpec, DownloadedWeights

SPEC = BackboneSpec(
    key="mobilenet_v3",
    title="MobileNetV3 Small",
    summary="Small, with squeeze-and-excitation; for phones.",
    license="Apache-2.0",
    source="https://keras.io/api/applications/mobilenet/",
    num_parameters=939_120,
    num_features=576,
    weights=DownloadedWeights(
        "https://storage.googleapis.com/tensorflow/keras-applications/"
        "mobilenet_v3/weights_mobilenet_v3_small_224_1.0_float_no_top_v2.h5",
        checksum="d3e8ec802a04aa4fc771ee12a9a9b836",
        num_bytes=4_334_752,
    ),
    order=3,
)
