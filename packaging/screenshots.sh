#!/usr/bin/env bash
# Retakes the README's screenshots: a real training, every view, light and dark.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

make_venv requirements-dev.lock
# shellcheck disable=SC2046 # package names have no spaces
install_missing $(missing_window_packages)
cd "$project"
QT_QPA_PLATFORM=offscreen PYTHONPATH=. exec "$venv/bin/python" packaging/make_screenshots.py "${1:-packaging/screenshots}" "${@:2}"
