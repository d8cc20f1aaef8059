#!/usr/bin/env bash
# Rebuilds the hashed lock files from pyproject.toml (no index addresses in them).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

tool=$(mktemp -d)
trap 'rm -rf "$tool"' EXIT
"$(find_python)" -m venv "$tool" && "$tool/bin/pip" install --quiet uv
cd "$project"
compile() { "$tool/bin/uv" pip compile --quiet --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url --no-emit-find-links "$@"; }
printf '%s\n' 'hatchling>=1.25' >"$tool/build.in"  # installs the checkout itself
compile --universal pyproject.toml "$tool/build.in" --extra full -o packaging/requirements.lock
# What LiteRT needs: later ones are for Python 3.10 at most, which uv does not look at.
printf '%s\n' 'backports-strenum<1.3' >"$tool/dev.in"
compile --universal --constraint "$tool/dev.in" pyproject.toml --extra full --group dev -o packaging/requirements-dev.lock

# What computers that only train need, in the versions of the window's own environment. ONNX Runtime
# is among it: a training compares it with TensorFlow where it computes on processors.
same=(--constraint packaging/requirements.lock)
on_linux=(--python-platform x86_64-manylinux_2_28)
mkdir -p resources/environments
compile --universal "${same[@]}" pyproject.toml --extra train --extra classify -o resources/environments/worker.lock
# TensorFlow for TPUs ended with 2.19; newer libtpu abort its import. Keras as everywhere.
others=$(sed -n '/^dependencies/,/^]/p' pyproject.toml | grep -oE '"(msgspec|numpy|pillow|platformdirs|send2trash)[^"]*"' | tr -d '"')
printf '%s\n' $others tensorflow-tpu==2.19.1 libtpu==0.0.10 keras==3.15.1 >"$tool/tpu.in"
compile "${on_linux[@]}" "$tool/tpu.in" -o resources/environments/tpu.lock
printf '%s\n' $others "tensorflow[and-cuda]==2.21.0" keras==3.15.1 >"$tool/gpu.in"
compile "${on_linux[@]}" "${same[@]}" "$tool/gpu.in" -o resources/environments/gpu.lock
# Google's TPU compiler, for preflights: installed by people into an environment of its own.
printf '%s\n' jax==0.10.2 jaxlib==0.10.2 libtpu==0.0.51 >"$tool/compiler.in"
compile --universal "$tool/compiler.in" -o resources/environments/compiler.lock
