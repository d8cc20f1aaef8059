"""The parts of the programs for notebook services that are the same for every project.

They are also teaching material: plain code, one idea a function, each with its sentence.
Where a text holds {braces} they are filled by `_tpu_cells`.
"""

from __future__ import annotations

INTRODUCTION = """# {title}

This program trains the model “{title}” of Workbench on a TPU, else on GPUs, else on the CPU of
the machine it runs on.

1. **Colab**: *Runtime > Change runtime type*, choose a TPU. **Kaggle**: *Settings >
   Accelerator*, choose a TPU, and switch *Internet* on.
2. {data_words}
3. Run all cells from the top.
4. Download `workbench_result.zip` and choose *File > Import notebook results…* in Workbench.
"""

INSTALL_WORDS = """## The packages

TensorFlow 2.19.1 is the last version with TPU support. It is installed only where there is a
TPU, in exactly this version and with the matching driver (libtpu): with another one, importing
it crashes."""

INSTALL = '''import importlib.metadata
import os
import pathlib
import subprocess
import sys

NEEDED = {"tensorflow-tpu": "2.19.1", "libtpu": "0.0.10", "keras": "3.15.1"}


def has_tpu():
    """Whether this machine has a TPU: its chips are device files."""
    places = ("/dev", "accel[0-9]*"), ("/dev/vfio", "[0-9]*")
    return any(any(pathlib.Path(folder).glob(name)) for folder, name in places)


def installed(package):
    """The version of an installed package, None where there is none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def install():
    """Installs exactly the versions of NEEDED, and no other TensorFlow beside them."""
    if not (3, 11) <= sys.version_info[:2] <= (3, 12):
        raise SystemExit("TensorFlow for TPUs needs Python 3.11 or 3.12.")
    pip = [sys.executable, "-m", "pip"]
    others = ["tensorflow", "tensorflow-cpu"]  # their files would overwrite each other
    subprocess.run([*pip, "uninstall", "--quiet", "--yes", *others], check=True)
    wanted = [f"{package}=={version}" for package, version in NEEDED.items()]
    subprocess.run([*pip, "install", "--quiet", *wanted], check=True)
    importlib.invalidate_caches()
    loaded = {name: sys.modules[name] for name in ("keras", "numpy") if name in sys.modules}
    changed = [name for name in loaded if loaded[name].__version__ != installed(name)]
    if changed or "tensorflow" in sys.modules:
        raise SystemExit("Installed. Now restart the session and run all cells again.")


HAS_TPU = has_tpu()
if HAS_TPU and any(installed(package) != version for package, version in NEEDED.items()):
    install()

os.environ["KERAS_BACKEND"] = "tensorflow"
old_kinds = ("v2", "v3", "v4")  # they use an older driver interface
if HAS_TPU and not os.environ.get("TPU_ACCELERATOR_TYPE", "").startswith(old_kinds):
    import libtpu

    os.environ["PJRT_DEVICE"] = "TPU"
    os.environ["NEXT_PLUGGABLE_DEVICE_USE_C_API"] = "true"
    os.environ["TF_PLUGGABLE_DEVICE_LIBRARY_PATH"] = libtpu.get_library_path()
    os.environ["TF_XLA_FLAGS"] = "--tf_mlir_enable_mlir_bridge=true"
'''

CONNECT_WORDS = """## Device

A *strategy* splits each batch over the available cores: eight cores with a batch of
1,024 images train on 128 each. Every core has the same weights; their gradients are added up."""

CONNECT = '''import json
import time
import zipfile

import keras
import numpy as np
import tensorflow as tf
from keras import layers


def connect():
    """The strategy for the devices of this machine, and its name."""
    if HAS_TPU:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver.connect("local")
        return tf.distribute.TPUStrategy(resolver), "TPU"
    if tf.config.list_logical_devices("GPU"):
        return tf.distribute.MirroredStrategy(), "GPU"
    return tf.distribute.OneDeviceStrategy("/cpu:0"), "CPU"


strategy, DEVICE = connect()
CORES = strategy.num_replicas_in_sync
print(f"TensorFlow {tf.__version__}, Keras {keras.__version__}: {DEVICE}, {CORES} replicas")
'''

SPLIT = '''def mixed(numbers):
    """SplitMix64: 64-bit numbers scattered evenly, always in the same way."""
    z = numbers + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def picked(labels, share, seed):
    """Marks a fraction of each class: the same images that Workbench holds out."""
    is_picked = np.zeros(len(labels), bool)
    for label in np.unique(labels):
        places = np.flatnonzero(labels == label)
        keys = mixed(places.astype(np.uint64) + mixed(np.array([seed], np.uint64)))
        count = min(max(1, int(share * len(places) + 0.5)), len(places) - 1)
        is_picked[places[np.argsort(keys, kind="stable")][:count]] = True
    return is_picked
'''

TEST_SPLIT = """

if x_test is None:
    is_picked = picked(y_train, {share}, seed={seed})
    x_test, y_test = x_train[is_picked], y_train[is_picked]
    x_train, y_train = x_train[~is_picked], y_train[~is_picked]
"""

VALIDATION_SPLIT = """
is_picked = picked(y_train, {share}, seed={seed})
x_validation, y_validation = x_train[is_picked], y_train[is_picked]
x_train, y_train = x_train[~is_picked], y_train[~is_picked]
"""

BATCHES_WORDS = """## Batches

The images stay in the host's memory; its CPU prepares the batches while the cores compute.
Augmentation runs here, since a TPU cannot do it. All shapes must be fixed: incomplete batches
are dropped in training, and padded with images of weight 0 in evaluation, so that every image
is counted."""

DISTRIBUTE = '''def distributed(data):
    """Batches, each split over the cores, and prefetched."""
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    data = data.prefetch(tf.data.AUTOTUNE).with_options(options)
    return strategy.experimental_distribute_dataset(data)


def training_batches():
    """Endless batches: all images in random order, reshuffled for each pass."""
    images, labels = tf.constant(x_train), tf.constant(y_train)
    places = tf.data.Dataset.range(len(x_train)).shuffle(len(x_train), seed=SEED).repeat()
    return distributed(
        places.batch(BATCH_SIZE, drop_remainder=True).map(
            lambda at: make_batch(tf.gather(images, at), tf.gather(labels, at)),
            num_parallel_calls=tf.data.AUTOTUNE,
        )
    )


def scoring_batches(x, y):
    """All images once and in order; the padding of the last batch has weight 0."""
    images, labels = tf.constant(x), tf.constant(y)
    missing = -len(x) % BATCH_SIZE
    places = np.arange(len(x) + missing) % len(x)
    weights = np.pad(np.ones(len(x), np.float32), (0, missing))
    data = tf.data.Dataset.from_tensor_slices((places, weights))
    return distributed(
        data.batch(BATCH_SIZE, drop_remainder=True).map(
            lambda at, w: (unchanged(tf.gather(images, at)), tf.gather(labels, at), w),
            num_parallel_calls=tf.data.AUTOTUNE,
        )
    )


with tf.device("/cpu:0"):  # the images stay on the host
    batches = iter(training_batches())
    test_batches = scoring_batches(x_test, y_test)
'''

VALIDATION_BATCHES = {
    "split": "    validation_batches = scoring_batches(x_validation, y_validation)\n",
    "test": "    validation_batches = test_batches\n",
    "none": "",
}

STEPS_WORDS = """## One step, and many in one call

A step computes on each core: the scores of its images, their loss, the gradient, the update.
`train_steps` runs many steps in one call, because each call from Python costs time in which
the cores are idle."""

LOOP_WORDS = """## Training"""

SAVE_WORDS = """## The result

The weights, the curves and a description for Workbench go into one file."""

SAVE = '''def finite(value):
    """A number for JSON: None for what is not finite."""
    return float(value) if np.isfinite(value) else None


for name in ("losses", "accuracies"):
    history[name] = [finite(value) for value in history[name]]
for entry in history["epochs"]:
    entry.update({{key: finite(value) for key, value in entry.items() if isinstance(value, float)}})
card = {{
    "format": "workbench-result",
    "version": 1,
    "title": TITLE,
    "class_names": CLASS_NAMES,
    "recipe": {recipe},
    "device": DEVICE,
    "replicas": CORES,
    "precision": PRECISION,
    "batch_size": BATCH_SIZE,
    "steps_per_epoch": STEPS,
    "num_train": len(x_train),
    "num_validation": {num_validation},
    "num_test": len(x_test),
    "best_epoch": best_epoch,
    "seconds": seconds,
    "versions": {{
        "python": sys.version.split()[0],
        "tensorflow": tf.__version__,
        "keras": keras.__version__,
    }},
}}
model.save_weights("weights.weights.h5")
with zipfile.ZipFile("workbench_result.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.write("weights.weights.h5")
    archive.writestr("history.json", json.dumps(history))
    archive.writestr("card.json", json.dumps(card))
print("Wrote workbench_result.zip: download it and import it in Workbench.")
if "google.colab" in sys.modules:
    from google.colab import files

    files.download("workbench_result.zip")
'''
