"""The program for notebook services, a section for each cell; those of text end in ".md".

`workbench.programs.texts` fills it in. What stands before the first section is for the checkers
alone.
"""

from __future__ import annotations

from typing import Any

FILL: Any = None
CLASS_NAMES = DIGEST = split = x_test = x_train = y_test = y_train = FILL
adapt_front = erase = front = loss_of = make_optimizer = make_tuning_optimizer = mix = FILL
penalty = picked = swap_averages = FILL

# %% introduction.md
# # $markdown_title
#
# This program trains the model “$markdown_title” of Workbench on a TPU, else on GPUs, else on the CPU of
# the machine it runs on.
#
# 1. **Colab**: *Runtime > Change runtime type*, choose the TPU (v5e-1, one core). **Kaggle**:
#    *Settings > Accelerator*, choose the TPU (v5e-8, eight cores), and switch *Internet* on.
# 2. The program downloads the images.  #? is_downloaded
# 2. Upload $images, the images, which Workbench has written beside this program.  #? not is_downloaded
#    Upload $pretrained, too: training starts from these weights.  #? is_pretrained
# 3. Run all cells from the top.
# 4. Download `workbench_result.zip` and choose *File > Import notebook results…* in Workbench.
# %% install.md
# ## The packages
#
# TensorFlow for TPUs ended with version 2.20.0. It is installed only where there is a TPU, with the
# matching driver (libtpu): with a later one, importing it crashes. On Python 3.11 and 3.12 that is
# 2.19.1, the version that Keras names for TPUs; 2.20.0 is the only one for Python 3.13.
# %% install.py
import importlib.metadata
import os
import pathlib
import subprocess
import sys

NEEDED = {"tensorflow-tpu": "2.19.1", "libtpu": "0.0.10", "keras": "3.15.1"}
if sys.version_info >= (3, 13):
    NEEDED |= {"tensorflow-tpu": "2.20.0", "libtpu": "0.0.31"}


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
    if not (3, 11) <= sys.version_info[:2] <= (3, 13):
        raise SystemExit("TensorFlow for TPUs needs Python 3.11, 3.12 or 3.13.")
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
# %% connect.md
# ## Device
#
# A *strategy* splits each batch over the available cores: eight cores with a batch of
# 1,024 images train on 128 each. Every core has the same weights; their gradients are added up.
# %% connect.py
import json
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
# %% settings.md
# ## What is trained
# %% settings.py
TITLE = FILL.title_literal
# $class_names
NUM_CLASSES = FILL.num_classes
INPUT_SHAPE = FILL.input_shape  # height, width, channels
EPOCHS = FILL.epochs
VALIDATION_FREQ = FILL.validation_freq  # epochs from one validation to the next  #? validates_some
HEAD_EPOCHS = FILL.head_epochs  # fine-tuning begins after them  #? is_tuned
BATCH_SIZE = max(1, FILL.batch_size // CORES) * CORES  # of all cores together
STEPS_PER_CALL = FILL.steps_per_call
SEED = FILL.seed
PRECISION = FILL.precision

keras.utils.set_random_seed(SEED)
print(f"{BATCH_SIZE // CORES} images per core x {CORES} = {BATCH_SIZE}")
# %% files.md
# ## Files
#
# Workbench has written beside this program:
#
# - $images: the images, as they are trained on in Workbench;  #? not is_downloaded
# - $pretrained: the weights that training starts from.  #? is_pretrained
#
# **Upload them, too.** **Colab**: drop them on the *Files* panel on the left; for a missing file a
# dialog opens below. **Kaggle**: *Add Input > Upload* makes a data set of them. Elsewhere, copy them
# beside the program.
# %% files.py
def find_file(name, what):
    """The path of a file from Workbench; on Colab it can be uploaded here."""
    here = pathlib.Path(name)
    if not here.is_file() and "google.colab" in sys.modules:
        from google.colab import files

        print(f"Choose {name}:")
        for uploaded in files.upload():
            if uploaded.endswith(here.suffix):
                os.replace(uploaded, name)  # browsers add numbers to the names of files
    beside = pathlib.Path(sys.argv[0]).parent / name  # where this program is a script
    inputs = pathlib.Path("/kaggle/input").rglob(f"*{here.suffix}")
    found = [here, beside, *(path for path in inputs if path.name == name)]
    for path in found:
        if path.is_file():
            return path
    raise SystemExit(
        f"{what} are missing: there is no {name} in {pathlib.Path.cwd()}. "
        "Workbench has written this file beside the program. Upload it (in Colab to the Files "
        "panel, in Kaggle with Add Input > Upload) and run this cell again."
    )


images_path = find_file(FILL.images_literal, "The images")  #? not is_downloaded
print(f"Images: {images_path}")  #? not is_downloaded
pretrained_path = find_file(FILL.pretrained_literal, "The pretrained weights")  #? is_pretrained
print(f"Pretrained weights: {pretrained_path}")  #? is_pretrained
# %% images.md
# ## The images
#
# Keras downloads them as raw values from 0 to 255, with a class number each.  #? is_downloaded
# They are values from 0 to 255 in the size of the model input, with a class number each. Workbench  #? not is_downloaded
# has decoded, edited and divided them: these are the parts that it trains, validates and tests on.  #? not is_downloaded
# %% images.py
# $load_images
# %% split.md
# ## Validation
#
# The model is validated on held-out images.
# %% split.py
# $picked


is_picked = picked(y_train, FILL.validation_share, seed=FILL.validation_seed)
x_validation, y_validation = x_train[is_picked], y_train[is_picked]
x_train, y_train = x_train[~is_picked], y_train[~is_picked]
# %% batches.md
# ## Batches
#
# The images stay in the host's memory; its CPU prepares the batches while the cores compute.
# Augmentation runs here, since a TPU cannot do it. All shapes must be fixed: incomplete batches
# are dropped in training, and padded with images of weight 0 in evaluation, so that every image
# is counted.
# %% batches.py
# $front
#? has_front_and_setup
# All classes have the same total weight.  #? is_balanced
counts = np.bincount(y_train, minlength=NUM_CLASSES)  #? is_balanced
balanced = len(y_train) / (np.count_nonzero(counts) * np.maximum(counts, 1))  #? is_balanced
balanced = (balanced * (counts > 0)).astype(np.float32)  #? is_balanced
# $erase
# Keras cuts any share alike; the training settings have alpha = $alpha.  #? cuts_other_share
# $mix


def make_batch(x, y):
    """What one step trains on: images, targets and sample weights."""
    x = tf.cast(x, tf.float32)
    x = erase(x)  #? erases
    x = front(x, training=True)  #? has_front
    y = tf.one_hot(y, NUM_CLASSES)  #? is_one_hot
    both = mix({"images": x, "labels": y})  #? mixes
    x, y = both["images"], both["labels"]  #? mixes
    weights = FILL.sample_weights
    y = FILL.kept * y + FILL.spread / NUM_CLASSES  # label smoothing  #? is_smoothed
    return x, y, weights


def unchanged(x):
    """Images for evaluation: no random changes."""
    x = tf.cast(x, tf.float32)
    return front(x, training=False)  #? has_front
    return x  #? not has_front


def distributed(data):
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
    test_batches = scoring_batches(x_test, y_test)  #? has_test
    validation_batches = FILL.validation_batches  #? is_validated
# %% network.md
# ## The model
#
# It is built within the strategy's scope, so that each core gets the weights.
#
# Layers with `trainable=False` are frozen: they keep the weights that they start with, and a frozen  #? is_frozen
# BatchNormalization normalizes by its stored mean and variance, in training too.  #? is_frozen
# %% network.py
def build_model():
    """The whole network from raw images, and the part of it that is trained."""  #? has_front
    prepared = inputs = keras.Input(INPUT_SHAPE)  #? has_front
    for layer in front.layers:  #? has_front
        prepared = layer(prepared)  #? has_front
    """The network, from raw images to class scores."""  #? not has_front
    inputs = keras.Input(INPUT_SHAPE)  #? not has_front
    # $layers
    return keras.Model(inputs, FILL.output), keras.Model(prepared, FILL.output)  #? has_front
    return keras.Model(inputs, FILL.output)  #? not has_front
# %% training.md
# ## Training settings
# %% training.py
# $make_optimizer


# $loss
STEPS = FILL.steps  # of an epoch
if PRECISION == "bfloat16":  # the weights and the output stay in float32  #? may_be_bfloat16
    keras.config.set_dtype_policy("mixed_bfloat16")  #? may_be_bfloat16
with strategy.scope():
    model, network = build_model()  #? has_front
    model = network = build_model()  #? not has_front
    try:  #? is_pretrained
        model.load_weights(pretrained_path)  #? is_pretrained
    except (OSError, ValueError) as error:  #? is_pretrained
        raise SystemExit(  #? is_pretrained
            f"{pretrained_path} is damaged or belongs to another network: replace it with the "  #? is_pretrained
            "file that Workbench has written beside this program."  #? is_pretrained
        ) from error  #? is_pretrained
    optimizer = make_optimizer(STEPS)
    optimizer.build(network.trainable_variables)
adapt_front()  # as before: load_weights has replaced what it measured  #? adapts_again
#? adapts_model
with strategy.scope():  #? adapts_model
    for layer in network.layers:  #? adapts_model
        if isinstance(layer, layers.Normalization):  # mean and variance of its inputs  #? adapts_model
            before = keras.Model(model.inputs, layer.input)  #? adapts_model
            layer.adapt(before.predict(x_train[:10_000], verbose=0))  #? adapts_model
model.summary()
# %% steps.md
# ## One step, and many in one call
#
# A step computes on each core: the scores of its images, their loss, the gradient, the update.
# `train_steps` runs many steps in one call, because each call from Python costs time in which
# the cores are idle.
# %% steps.py
# $penalty
# $swap_averages
def train_step(x, y, weights):
    """One step on this core's images: its part of the loss, and the number of correct ones."""
    variables = network.trainable_variables
    with tf.GradientTape() as tape:
        outputs = network(x, training=True)
        loss = tf.reduce_sum(loss_of(y, outputs) * weights) / BATCH_SIZE
        loss += penalty() / CORES  #? has_penalty
    gradients = tape.gradient(loss, variables)
    gradients = tf.distribute.get_replica_context().all_reduce("SUM", gradients)  #? clips
    gradients, _ = tf.clip_by_global_norm(gradients, FILL.clip_norm)  #? clips
    gradients = [gradient / CORES for gradient in gradients]  #? clips
    optimizer.apply(gradients, variables)  # adds up the gradients of all cores
    is_right = tf.argmax(outputs, axis=-1) == FILL.labels
    return loss, tf.reduce_sum(tf.cast(is_right, tf.float32))


@tf.function
def train_steps(count):
    """Many steps in one call: loss and accuracy of each batch."""
    losses = tf.TensorArray(tf.float32, size=count)
    accuracies = tf.TensorArray(tf.float32, size=count)
    for step in tf.range(count):
        loss, num_right = strategy.run(train_step, args=next(batches))
        num_right = strategy.reduce("SUM", num_right, axis=None)
        losses = losses.write(step, strategy.reduce("SUM", loss, axis=None))
        accuracies = accuracies.write(step, num_right / BATCH_SIZE)
    return losses.stack(), accuracies.stack()


def score_step(x, y, weights):
    """Sums over this core's images; the padding of the last batch has weight 0."""
    outputs = network(x, training=False)
    losses = loss_of(FILL.targets, outputs)  #? not has_penalty
    losses = loss_of(FILL.targets, outputs) + penalty()  #? has_penalty
    is_right = tf.cast(tf.argmax(outputs, axis=-1) == y, tf.float32)
    is_near = tf.math.in_top_k(y, tf.cast(outputs, tf.float32), FILL.top_k)  #? has_top_k
    is_near = tf.cast(is_near, tf.float32)  #? has_top_k
    values = (losses, is_right, is_near, tf.ones_like(losses))  #? has_top_k
    values = (losses, is_right, tf.ones_like(losses))  #? not has_top_k
    return [tf.reduce_sum(one * weights) for one in values]


@tf.function
def score_batch(x, y, weights):
    """The sums over the images of all cores."""
    sums = strategy.run(score_step, args=(x, y, weights))
    return [strategy.reduce("SUM", one, axis=None) for one in sums]


def score(data, start=""):
    """Loss and accuracy over all images of `data`, by names that begin with `start`."""
    rows = [[float(one) for one in score_batch(*batch)] for batch in data]
    *sums, count = np.sum(rows, axis=0)
    names = (start + "loss", start + "accuracy", "top_k_accuracy")  #? has_top_k
    names = (start + "loss", start + "accuracy")  #? not has_top_k
    return {name: float(total / count) for name, total in zip(names, sums)}
# %% tuning.md
# ## Fine-tuning
#
# Training has two phases. In the first one, of HEAD_EPOCHS epochs, the layers named `tuned_...` are
# frozen. In the second one they learn, too: with an optimizer that starts anew, at a learning rate
# so low that their weights change only a little.
# %% tuning.py
# $make_tuning_optimizer


def start_fine_tuning():
    """Makes the layers of the second phase learn; returns its optimizer."""
    tuned = [layer for layer in model.layers if layer.name.startswith("tuned_")]
    for layer in tuned:
        layer.trainable = True
    print(f"Fine-tuning: {len(tuned)} more layers learn.")
    with strategy.scope():
        optimizer = make_tuning_optimizer(STEPS)
        optimizer.build(network.trainable_variables)
    return optimizer
# %% loop.md
# ## Training
# %% loop.py
best_epoch, best_score = 0, (-np.inf, -np.inf)
best_weights = None  #? keeps_best
phase_best, phase_score = best_epoch, best_score  # of the epochs of one phase  #? counts_phases
is_head_over = False  # by early stopping  #? stops_head
last_fall = 0  #? follows_metric
history = {"losses": [], "accuracies": [], "epochs": []}
started = time.perf_counter()
for epoch in range(1, EPOCHS + 1):
    if is_head_over and epoch <= HEAD_EPOCHS:  #? stops_head
        continue  #? stops_head
    if epoch == HEAD_EPOCHS + 1:  #? is_tuned
        optimizer = start_fine_tuning()  #? is_tuned
        # Traced once more, as other layers learn now.  #? is_tuned
        train_steps = tf.function(train_steps.python_function)  #? is_tuned
        score_batch = tf.function(score_batch.python_function)  #? tunes_penalty
        # It may begin worse than the head has ended: it is compared with itself.  #? counts_phases
        phase_best, phase_score = HEAD_EPOCHS, (-np.inf, -np.inf)  #? counts_phases
        last_fall = HEAD_EPOCHS  #? tunes_plateau
    began = time.perf_counter()
    for first in range(0, STEPS, STEPS_PER_CALL):
        losses, accuracies = train_steps(tf.constant(min(STEPS_PER_CALL, STEPS - first)))
        history["losses"] += losses.numpy().tolist()
        history["accuracies"] += accuracies.numpy().tolist()
    entry = {
        "epoch": epoch,
        "step": epoch * STEPS,
        "loss": float(np.mean(history["losses"][-STEPS:])),
        "accuracy": float(np.mean(history["accuracies"][-STEPS:])),
        "learning_rate": float(optimizer.learning_rate.numpy()),
        "images_per_second": STEPS * BATCH_SIZE / (time.perf_counter() - began),
    }
    swap_averages()  #? averages
    entry |= score(validation_batches, "val_")  #? validates_each
    if epoch % VALIDATION_FREQ == 0:  #? validates_some
        entry |= score(validation_batches, "val_")  #? validates_some
    entry["seconds"] = time.perf_counter() - began
    history["epochs"].append(entry)
    print(" · ".join(f"{key} {value:.5g}" for key, value in entry.items()))
    if epoch % VALIDATION_FREQ:  #? judges_some
        epoch_score = (-np.inf, -np.inf)  # compared with nothing  #? judges_some
    else:  #? judges_some
        epoch_score = (FILL.best_value, FILL.best_loss)  #? judges_some
    epoch_score = (FILL.best_value, FILL.best_loss)  #? judges_each
    if np.isfinite(epoch_score).all() and epoch_score > best_score:
        best_epoch, best_score = epoch, epoch_score
        best_weights = model.get_weights()  #? keeps_best
    if np.isfinite(epoch_score).all() and epoch_score > phase_score:  #? counts_phases
        phase_best, phase_score = epoch, epoch_score  #? counts_phases
    swap_averages()  #? averages
    if not np.isfinite(entry["loss"]):
        print("The loss is NaN: try a lower learning rate.")
        break
    if FILL.waited_fall >= FILL.plateau_patience:  #? follows_metric
        last_fall = epoch  #? follows_metric
        with strategy.scope():  #? follows_metric
            optimizer.learning_rate *= FILL.decay_factor  #? follows_metric
    if FILL.waited_best >= FILL.patience:  #? stops_early
        print(f"Early stopping: epoch {best_epoch} is the best.")  #? stops_early
        if epoch > HEAD_EPOCHS:  #? stops_head
            break  #? stops_head
        is_head_over = True  # fine-tuning follows, with its own epoch number  #? stops_head
        break  #? stops_whole
seconds = time.perf_counter() - started
if best_weights is not None:  #? keeps_best
    with strategy.scope():  #? keeps_best
        model.set_weights(best_weights)  #? keeps_best
swap_averages()  #? keeps_averages
history["test"] = score(test_batches) | {"count": len(x_test)}  #? has_test
print("test:", history["test"])  #? has_test
# %% result.md
# ## The result
#
# The weights, the curves and a description for Workbench go into one file.
# %% result.py
def finite(value):
    """A number for JSON: None for what is not finite."""
    return float(value) if np.isfinite(value) else None


validated = FILL.validation_labels
per_class = [np.bincount(y, minlength=NUM_CLASSES) for y in (y_train, validated, y_test)]
for name in ("losses", "accuracies"):
    history[name] = [finite(value) for value in history[name]]
for entry in history["epochs"]:
    entry.update({key: finite(value) for key, value in entry.items() if isinstance(value, float)})
card = {
    "format": "workbench-result",
    "version": 1,
    "title": TITLE,
    "class_names": CLASS_NAMES,
    "recipe": {
        # $recipe
    },
    "device": DEVICE,
    "replicas": CORES,
    "precision": PRECISION,
    "batch_size": BATCH_SIZE,
    "steps_per_epoch": STEPS,
    "num_train": len(x_train),
    "num_validation": len(validated),
    "num_test": len(x_test),
    "per_class": np.stack(per_class, axis=1).tolist(),
    "images": DIGEST,  #? not is_downloaded
    "split": split,  #? not is_downloaded
    "best_epoch": best_epoch,
    "seconds": seconds,
    "versions": {
        "python": sys.version.split()[0],
        "tensorflow": tf.__version__,
        "keras": keras.__version__,
    },
}
model.save_weights("weights.weights.h5")
with zipfile.ZipFile("workbench_result.zip", "w", zipfile.ZIP_DEFLATED) as archive:
    archive.write("weights.weights.h5")
    archive.writestr("history.json", json.dumps(history))
    archive.writestr("card.json", json.dumps(card))
print("Wrote workbench_result.zip: download it and import it in Workbench.")
if "google.colab" in sys.modules:
    from google.colab import files

    files.download("workbench_result.zip")
