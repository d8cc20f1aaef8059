# %% script
"""$title: classifies images with $file.

$setup
$start $script IMAGE...
"""

from __future__ import annotations

# $standard_imports
import argparse  #? template
import json  #? template
import os  #? template
import pathlib  #? template
import runpy  #? template
import shutil  #? template
import subprocess  #? template
import sys  #? template
import tempfile  #? template
from typing import Any  #? template

# $settings
FILL: Any = None  #? template
read_image = FILL  #? template
try:
    # $imports
    import numpy as np  #? template
except ModuleNotFoundError as error:
    sys.exit(f"{error}; install it with: $setup")

FACTS = json.loads(pathlib.Path(__file__).with_name(FILL.facts_literal).read_text("utf-8"))


# $reading
def load_image(path):
    """An image file as the network takes it: uint8 (height, width, channels)."""
    return read_image(path, FACTS["input_shape"], FACTS["fit"], FACTS.get("value_range", ""))


def probabilities(model, images):
    """Of the classes, (n, classes), before the temperature."""
    scores = np.asarray(outputs(model, images)["scores"], np.float64)
    if FACTS["is_logits"]:
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        scores /= scores.sum(axis=1, keepdims=True)
    return scores


def shown(text):
    """The text in one line: names of files and classes may hold what a terminal would act on."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def main():
    sys.stdout.reconfigure(errors="backslashreplace")
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="+", metavar="IMAGE")
    paths, code = parser.parse_args().paths, 0
    model = open_model(pathlib.Path(__file__).with_name(FILL.file_literal))
    for path in paths:
        try:
            image = load_image(path)
        except Exception as error:  # each kind of image file has its own
            reason = getattr(error, "strerror", None) or error
            print(shown(f"{path}: not a picture: {reason}"), file=sys.stderr)
            code = 1
            continue
        shares = probabilities(model, image[None])[0]
        if FACTS["temperature"]:  # the calibration of these weights
            shares = np.maximum(shares, 1e-38) ** (1 / FACTS["temperature"])
            shares /= shares.sum()
        best = int(shares.argmax())
        label = FACTS["class_names"][best]
        if shares[best] < FACTS["least_probability"]:
            label = f"unknown ({label})"
        print(shown(f"{path}: {label} {shares[best]:.4f}"))
    return code


# $image_reader


if __name__ == "__main__":
    sys.exit(main())
# %% keras
import keras


def open_model(path):
    return keras.models.load_model(path)


def outputs(model, images):
    return {"scores": model.predict(images.astype("float32"), verbose=0)}


# %% keras_weights
import keras


def open_model(path):
    """The network of the script beside the weights, with these weights."""
    program = runpy.run_path(str(path.with_name(FILL.network)))
    model = program["build_model"]()
    model.load_weights(path.with_name(FILL.weights_file))
    return model


def outputs(model, images):
    return {"scores": model.predict(images.astype("float32"), verbose=0)}


# %% keras2_weights
import tf_keras as keras
from tf_keras import layers


def build_model():
    """The network in Keras 2."""
    inputs = keras.Input(FACTS["input_shape"])
    # $layers
    return keras.Model(inputs, FILL.output)


def open_model(path):
    model = build_model()
    model.load_weights(path)
    return model


def outputs(model, images):
    return {"scores": model.predict(images.astype("float32"), verbose=0)}


# %% tensorflow
import tensorflow as tf


def open_model(path):
    return tf.saved_model.load(str(path))


def outputs(model, images):
    found = model.signatures["serving_default"](images=tf.constant(images))
    return {name: values.numpy() for name, values in found.items()}


# %% onnxruntime_settings
# Without it ONNX Runtime 1.29 and later send telemetry from the import on.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

# %% onnxruntime
import onnxruntime


def open_model(path):
    return onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def outputs(model, images):
    names = [output.name for output in model.get_outputs()]
    return dict(zip(names, model.run(names, {"images": images}), strict=True))


# %% litert
from ai_edge_litert.interpreter import Interpreter


def open_model(path):
    return Interpreter(model_path=str(path)).get_signature_runner("serving_default")


def outputs(model, images):
    found = model(images=images)
    for name, about in model.get_output_details().items():
        scale, zero = about["quantization"]
        if scale:  # numbers of 8 bits
            found[name] = (found[name].astype(np.float32) - zero) * scale
    return found


# %% c
def open_model(path):
    """The program beside the header, compiled and started."""
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        sys.exit("A C compiler is needed: apt install gcc libc6-dev")
    with tempfile.TemporaryDirectory() as folder:
        command = [compiler, "-std=c99", "-O3", "-o", f"{folder}/classify"]
        subprocess.run([*command, str(path.with_name("classify.c"))], check=True)
        pipe = subprocess.PIPE
        return subprocess.Popen([f"{folder}/classify", "-"], stdin=pipe, stdout=pipe)


def outputs(model, images):
    rows = []
    for image in images:
        model.stdin.write(image.tobytes())
        model.stdin.flush()
        rows.append([float(number) for number in model.stdout.readline().split()])
    found = np.array(rows, np.float32)
    sizes = FILL.layer_sizes  #? has_layers
    parts = np.split(found, np.cumsum([*sizes.values()]), axis=1)  #? has_layers
    return dict(zip(["scores", *sizes], [parts[-1], *parts[:-1]], strict=True))  #? has_layers
    return {"scores": found}  #? not has_layers


