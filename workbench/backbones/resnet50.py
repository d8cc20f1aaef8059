"""ResNet50: a pretrained network."""

from __future__ import annotations

from workbench.core.specs import BackboneSpec, DownloadedWeights

SPEC = BackboneSpec(
    key="resnet50",
    title="ResNet50",
    summary="The classic residual network: large, and described in many textbooks.",
    license="MIT",
    source="https://keras.io/api/applications/resnet/",
    num_parameters=23_587_718,
    num_features=2_048,
    weights=DownloadedWeights(
        "https://storage.googleapis.com/tensorflow/keras-applications/"
        "resnet/resnet50_weights_tf_dim_ordering_tf_kernels_notop.h5",
        checksum="4d473c1dd8becc155b73f8504c6f6626",
        num_bytes=94_765_736,
    ),
    order=6,
)
