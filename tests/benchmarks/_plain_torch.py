"""The CIFAR-10 template's network as a plain PyTorch script: images/s.

`TORCH_PYTHON _plain_torch.py NPZ STEPS EPOCHS float32|bfloat16` prints the images/s of each epoch
but the first. Eager; bfloat16 by autocast with channels-last, as PyTorch's documentation has it.
Runs in an environment of its own (packaging/torch.sh): imports nothing of this project.
"""

from __future__ import annotations

import contextlib
import sys
import time

import numpy as np
import torch
from torch import nn

BATCH = 1024


class Network(nn.Module):
    """Same layers as the template, in PyTorch's order of axes."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.BatchNorm2d(3, eps=1e-3),
            nn.Conv2d(3, 32, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 32, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Dropout(0.25),
            nn.BatchNorm2d(32, eps=1e-3),
            nn.Conv2d(32, 64, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(64, 64, 3),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Dropout(0.25),
            nn.Flatten(),
            nn.Linear(64 * 7 * 7, 512),
            nn.ReLU(),
            nn.Dropout(0.5),
            nn.Linear(512, 10),
        )

    def forward(self, pictures):
        return self.layers(pictures)


def main():
    """Trains and prints."""
    path, steps, epochs, precision = sys.argv[1], *map(int, sys.argv[2:4]), sys.argv[4]
    torch.manual_seed(7)
    is_bfloat16 = precision == "bfloat16"
    layout = torch.channels_last if is_bfloat16 else torch.contiguous_format
    with np.load(path) as data:
        x = data["x_train"][: BATCH * steps].transpose(0, 3, 1, 2).astype("float32")
        y = torch.from_numpy(data["y_train"][: BATCH * steps].reshape(-1).astype("int64"))
    x = torch.from_numpy(np.ascontiguousarray(x)).to(memory_format=layout)
    model = Network().to(memory_format=layout).train()
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    loss_of = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        began = time.perf_counter()
        for chosen in torch.randperm(BATCH * steps).split(BATCH):
            optimizer.zero_grad()
            lower = (
                torch.autocast("cpu", torch.bfloat16) if is_bfloat16 else contextlib.nullcontext()
            )
            with lower:
                outputs = model(x[chosen])
            loss = loss_of(outputs.float(), y[chosen])
            loss.backward()
            optimizer.step()
        if epoch:
            print(BATCH * steps / (time.perf_counter() - began), flush=True)


if __name__ == "__main__":
    main()
