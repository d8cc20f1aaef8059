"""CIFAR-100: 60,000 small color photos in a hundred classes, as Keras downloads it."""

from __future__ import annotations

from workbench.datasets._cifar import cifar_spec
from workbench.downloads.download import Download

CLASS_NAMES = (
    "apple", "aquarium fish", "baby", "bear", "beaver", "bed", "bee", "beetle", "bicycle",
    "bottle", "bowl", "boy", "bridge", "bus", "butterfly", "camel", "can", "castle",
    "caterpillar", "cattle", "chair", "chimpanzee", "clock", "cloud", "cockroach", "couch",
    "crab", "crocodile", "cup", "dinosaur", "dolphin", "elephant", "flatfish", "forest", "fox",
    "girl", "hamster", "house", "kangaroo", "keyboard", "lamp", "lawn mower", "leopard", "lion",
    "lizard", "lobster", "man", "maple tree", "motorcycle", "mountain", "mouse", "mushroom",
    "oak tree", "orange", "orchid", "otter", "palm tree", "pear", "pickup truck", "pine tree",
    "plain", "plate", "poppy", "porcupine", "possum", "rabbit", "raccoon", "ray", "road",
    "rocket", "rose", "sea", "seal", "shark", "shrew", "skunk", "skyscraper", "snail", "snake",
    "spider", "squirrel", "streetcar", "sunflower", "sweet pepper", "table", "tank",
    "telephone", "television", "tiger", "tractor", "train", "trout", "tulip", "turtle",
    "wardrobe", "whale", "willow tree", "wolf", "woman", "worm",
)  # fmt: skip

DOWNLOAD = Download(
    title="CIFAR-100",
    address="https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",
    checksum="85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7",
    keras_name="cifar-100-python-target_archive",
    num_bytes=169_001_437,
)

SPEC = cifar_spec(
    key="cifar100",
    summary="60,000 color photos, 32 × 32, in a hundred classes. Downloaded once (169 MB).",
    class_names=CLASS_NAMES,
    download=DOWNLOAD,
    train=["cifar-100-python/train"],
    test="cifar-100-python/test",
    labels_key="fine_labels",
)
