#!/usr/bin/env bash
# Sets everything up and opens Workbench. Without a display it does the same job in the
# terminal: trains the bundled project on the bundled pictures and classifies some.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

make_venv requirements.lock
if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
    # shellcheck disable=SC2046 # package names have no spaces
    install_missing $(missing_window_packages)
    exec "$venv/bin/python" -m workbench "$@"
fi
exec "$venv/bin/python" -m workbench tour "$@"
