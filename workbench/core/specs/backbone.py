"""What a pretrained network's plug-in file declares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.core.specs.layer import Shape, ValueRange


@dataclass(frozen=True)
class BundledWeights:
    """Weights that come with the application, in `backbones/KEY.weights` of its resources.

    Attributes:
        sha256: SHA-256 of the file, hexadecimal.
    """

    sha256: str


@dataclass(frozen=True)
class DownloadedWeights:
    """Weights that Keras publishes as an HDF5 file without the top of the network.

    Attributes:
        address: Where the file is.
        checksum: sha256, or md5 (32 digits), as Keras has it; "" where Keras has none.
        num_bytes: Size of the file, about; a download is described with it.
    """

    address: str
    checksum: str
    num_bytes: int

    @property
    def file_name(self) -> str:
        """The name at the end of the address."""
        return self.address.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class PretrainedLayer:
    """A layer that weights were trained for.

    Attributes:
        num_parameters: Numbers in its weights.
        kind, params: As of its node.
        input_range: `BackboneSpec.input_range` for the first layer with weights; None for others.
        before: Kind and params of the layers between the images and that one, in order.
        input_shape: `BackboneSpec.input_shape`; None where it is not known.
    """

    num_parameters: int
    kind: str
    params: Mapping[str, Any] = field(hash=False)
    input_range: ValueRange | None = None
    before: tuple[tuple[str, Mapping[str, Any]], ...] = field(default=(), hash=False)
    input_shape: Shape | None = None


@dataclass(frozen=True, kw_only=True)
class BackboneSpec:
    """One pretrained network without its top: from images to features.

    Its layers are a graph in `backbones/KEY.json` of the resources, made by
    `packaging/make_backbones.py`. The first of them brings images to the range that the network was
    trained with, so that the block takes images as they are, in `input_range`.

    Attributes:
        key: File name, and the word before "/" in `Node.pretrained`.
        title, summary: Texts for people.
        license: License of the weights.
        source: Address where the weights were published.
        input_shape: The usual (height, width, channels) of an image.
        smallest_side: Least height and width that leave something at the end.
        input_range: Lowest and highest value of an image that goes in.
        num_parameters: Numbers in its weights.
        num_features: Length of the vector that comes out.
        weights: Where its weights are.
        order: Place in lists, from small and bundled to large.
    """

    key: str
    title: str
    summary: str
    license: str
    source: str
    input_shape: Shape = (224, 224, 3)
    smallest_side: int = 32
    input_range: ValueRange = (0.0, 255.0)
    num_parameters: int
    num_features: int
    weights: BundledWeights | DownloadedWeights
    order: int

    @property
    def graph_resource(self) -> str:
        """The resource with its layers."""
        return f"backbones/{self.key}.json"

    @property
    def weights_resource(self) -> str:
        """The resource with its weights, where they are bundled."""
        return f"backbones/{self.key}.weights"

    @property
    def is_bundled(self) -> bool:
        """Whether its weights come with the application."""
        return isinstance(self.weights, BundledWeights)
