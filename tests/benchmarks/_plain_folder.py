"""A folder classified as a plain Keras script does it.

`python -m tests.benchmarks._plain_folder MODEL.keras FOLDER` classifies the folder for every line
on stdin and prints the seconds and the number of images; the first time without being asked, to
compile.
"""

from __future__ import annotations

import sys
import time


def main(path: str, folder: str) -> None:
    import keras

    model = keras.models.load_model(path)
    height, width = model.input_shape[1:3]

    def classify() -> tuple[float, int]:
        began = time.perf_counter()
        images = keras.utils.image_dataset_from_directory(
            folder, labels=None, image_size=(height, width), shuffle=False, verbose=False
        )
        answers = model.predict(images, verbose=0)
        return time.perf_counter() - began, len(answers)

    print(*classify(), flush=True)
    for _ in sys.stdin:
        print(*classify(), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
