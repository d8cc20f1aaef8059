"""Images/s of the trainer: alone, watched by the window, and against a plain Keras script."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

from tests.benchmarks._runs import made_pictures, own_home, project_on, train, wait_for
from workbench.protocol.events import EpochFinished
from workbench.runs.event_log import EventReader
from workbench.runs.folder import RunFolder, create_run

ROUNDS = 3
EPOCHS = 4
BATCH = 512
COUNT = 20_480

PLAIN_SCRIPT = """
import sys, time, numpy as np, keras
L = keras.layers
data = np.load(sys.argv[1])
x, y = data["x_train"].astype("float32"), data["y_train"]
conv = lambda n, padding: L.Conv2D(n, 3, padding=padding, activation="relu")
model = keras.Sequential([L.Input((32, 32, 3)), L.BatchNormalization(), conv(32, "same"),
    conv(32, "same"), L.MaxPooling2D(2), L.Dropout(0.25), L.BatchNormalization(),
    conv(64, "same"), conv(64, "valid"), L.MaxPooling2D(2), L.Dropout(0.25), L.Flatten(),
    L.Dense(512, activation="relu"), L.Dropout(0.5), L.Dense(10, activation="softmax")])
model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy",
    metrics=["accuracy"])
for epoch in range(int(sys.argv[3])):
    began = time.perf_counter()
    model.fit(x, y, batch_size=int(sys.argv[2]), epochs=1, verbose=0)
    print(len(x) / (time.perf_counter() - began), flush=True)
"""


def main() -> None:
    """Runs the ways in turn, a few rounds, and prints medians and ratios."""
    if len(sys.argv) > 2 and sys.argv[1] == "--watch":
        raise SystemExit(_watch(Path(sys.argv[2])))
    home = own_home()
    data = made_pictures(home / "cifar_like.npz", size=32, num_classes=10, count=COUNT)
    ways = {"plain Keras float32": _plain, "trainer alone": _alone, "trainer watched": _watched}
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, run in ways.items():
            speeds[name].append(run(data))
    medians = {name: statistics.median(values) for name, values in speeds.items()}
    for name, value in medians.items():
        print(f"{name}: {value:,.0f} images/s (median of {ROUNDS})")
    plain, alone, watched = medians.values()
    print(f"trainer alone / plain Keras script: {alone / plain:.2f}")
    print(f"slower while the dashboard is on: {100 * (1 - watched / alone):.1f} % (goal 2 %)")
    shutil.rmtree(home, ignore_errors=True)


def _plain(data: Path) -> float:
    words = [sys.executable, "-c", PLAIN_SCRIPT, str(data), str(BATCH), str(EPOCHS)]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "2"}
    result = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    return statistics.median([float(line) for line in result.stdout.split()][1:])


def _folder(data: Path) -> RunFolder:
    recipe = {"epochs": EPOCHS, "batch_size": BATCH, "validation": "none"}
    return create_run(project_on("cifar10_convnet", data, **recipe))


def _speed(folder: RunFolder) -> float:
    events = EventReader(folder.events_path).read_new(max_events=1_000_000)
    speeds = [e.images_per_second for e in events if isinstance(e, EpochFinished)]
    return statistics.median(speeds[1:])


def _alone(data: Path) -> float:
    recipe = {"epochs": EPOCHS, "batch_size": BATCH, "validation": "none"}
    return _speed(train(project_on("cifar10_convnet", data, **recipe)))


def _watched(data: Path) -> float:
    folder = _folder(data)
    command = ["xvfb-run", "-a", "-s", "-screen 0 1440x900x24", sys.executable]
    command += ["-m", "tests.benchmarks.train", "--watch", str(folder.path)]
    environment = {**os.environ, "QT_QPA_PLATFORM": "xcb"}
    subprocess.run(command, check=True, env=environment)
    return _speed(folder)


def _watch(path: Path) -> int:
    """Shows the train view of the real window on a run from its start to its end."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from workbench.app import close_context, make_context, make_window
    from workbench.runs.home import data_home
    from workbench.runs.start import start_trainer

    app = QApplication([])
    context = make_context(data_home(), app)
    context.theme.apply(app)
    window = make_window(context, data_home())
    window.resize(1440, 880)
    window.show()
    context.library.open()
    window.show_view("train")
    start_trainer(RunFolder(path))
    context.library.select(path)

    def look() -> None:
        if context.library.current and context.library.current.outcome.is_over:
            app.quit()

    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(500)
    app.exec()
    close_context(context)
    wait_for(RunFolder(path), timeout_s=10)
    return 0


if __name__ == "__main__":
    main()
