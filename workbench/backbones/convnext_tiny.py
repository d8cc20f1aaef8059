"""ConvNeXt-Tiny: a pretrained network."""

from __future__ import annotations

from workbench.core.specs import BackboneSpec, DownloadedWeights

SPEC = BackboneSpec(
    key="convnext_tiny",
    title="ConvNeXt-Tiny",
    summary="A modern convolutional network: the most accurate here, and the slowest.",
    license="MIT (weights by Meta), Apache-2.0 (conversion to Keras)",
    source="https://keras.io/api/applications/convnext/",
    num_parameters=27_820_134,
    num_features=768,
    weights=DownloadedWeights(
        "https://storage.googleapis.com/tensorflow/keras-applications/"
        "convnext/convnext_tiny_notop.h5",
        checksum="d547c096cabd03329d7be5562c5e14798aa39ed24b474157cef5e85ab9e49ef1",
        num_bytes=111_650_432,
    ),
    order=7,
)
