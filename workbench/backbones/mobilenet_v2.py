"""MobileNetV2: a pretrained network."""

from __future__ import annotations

from workbench.core.specs import BackboneSpec, DownloadedWeights

SPEC = BackboneSpec(
    key="mobilenet_v2",
    title="MobileNetV2",
    summary="Inverted residual blocks: a usual choice for transfer learning.",
    license="Apache-2.0",
    source="https://keras.io/api/applications/mobilenet/",
    num_parameters=2_257_984,
    num_features=1_280,
    weights=DownloadedWeights(
        "https://storage.googleapis.com/tensorflow/keras-applications/"
        "mobilenet_v2/mobilenet_v2_weights_tf_dim_ordering_tf_kernels_1.0_224_no_top.h5",
        checksum="",
        num_bytes=9_406_464,
    ),
    order=4,
)
