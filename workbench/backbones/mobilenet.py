"""MobileNet (alpha 0.25): a pretrained network."""

from __future__ import annotations

from workbench.core.specs import BackboneSpec, BundledWeights

SPEC = BackboneSpec(
    key="mobilenet",
    title="MobileNet (alpha 0.25)",
    summary="The smallest and fastest: for a first result within seconds, and for small models.",
    license="Apache-2.0 (weights by Google), MIT (conversion to Keras)",
    source="https://github.com/fchollet/deep-learning-models/releases/tag/v0.6",
    num_parameters=218_544,
    num_features=256,
    weights=BundledWeights("083752d88fd2327ba35f73f32cf14dca7231b58db6f31a307f649654c36b9ec1"),
    order=1,
)
