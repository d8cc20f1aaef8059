# Set-up shared by run.sh, test.sh, bench.sh and prove.sh: source it, then call `set_up`.
# Does nothing twice: a stamp in .venv remembers the lock file it was made from.

project=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=${WORKBENCH_VENV:-$project/.venv}

# Without compiled modules each import of TensorFlow takes 17 s of processor time instead of 4.
export PYTHONDONTWRITEBYTECODE=

# Where Debian keeps sshd and ip; not on every person's PATH.
export PATH=$PATH:/usr/sbin:/sbin

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# A Python that the project supports: $WORKBENCH_PYTHON, or the first that runs.
find_python() {
    local candidate
    for candidate in "${WORKBENCH_PYTHON:-}" python3 python3.11 python3.12 python3.13; do
        [ -n "$candidate" ] || continue
        if "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    return 1
}

# Installs Debian packages when that is allowed here, else prints the exact line and fails.
apt_install() {
    local run=()
    if [ "$(id -u)" -ne 0 ]; then
        if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then run=(sudo -n); else run=(false); fi
    fi
    if command -v apt-get >/dev/null && [ "${run[*]:-}" != false ]; then
        say "Installing system packages: $*"
        if "${run[@]}" apt-get update -qq >/dev/null 2>&1 \
            && DEBIAN_FRONTEND=noninteractive "${run[@]}" apt-get install -y -qq --no-install-recommends "$@" >/dev/null; then
            return 0
        fi
    fi
    say "These system packages are missing. Install them with this line, then start again:"
    say "    sudo apt-get install -y $*"
    return 1
}

# Debian packages that hold the shared libraries the window needs and that are not here yet;
# the installed program reads the same list (workbench/window_libraries.py).
missing_window_packages() {
    local known soname package
    known=$(/sbin/ldconfig -p 2>/dev/null || true)
    while read -r soname package; do
        case "$known" in *"$soname"*) ;; *) printf '%s\n' "$package" ;; esac
    done <"$project/resources/window_libraries.txt" | sort -u
}

# Programs that tests and screenshots need: NAME PACKAGE pairs.
missing_programs() {
    local name package
    while [ $# -gt 1 ]; do
        name=$1 package=$2
        shift 2
        command -v "$name" >/dev/null || printf '%s\n' "$package"
    done | sort -u
}

install_missing() {
    [ $# -eq 0 ] || apt_install "$@"
}

# Makes .venv from a hashed lock file; the stamp keeps the second time instant.
# $1: requirements file under packaging/
make_venv() {
    local lock=$project/packaging/$1 python stamp wanted
    python=$(find_python) || die "Workbench needs Python 3.11, 3.12 or 3.13: sudo apt-get install -y python3 python3-venv"
    stamp=$venv/.workbench-setup
    wanted=$(cat "$project"/packaging/setup.sh "$lock" | sha256sum | cut -d' ' -f1)
    if [ -x "$venv/bin/python" ] && grep -qsx "$wanted" "$stamp"; then return; fi
    if ! "$python" -c 'import ensurepip' 2>/dev/null; then
        apt_install python3-venv || exit 1
    fi
    say "Setting up the Python environment in ${venv##*/} (once, a few minutes; about 2.5 GB)."
    [ -x "$venv/bin/python" ] || "$python" -m venv "$venv" || die "The environment could not be made."
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "$lock" \
        || die "Python packages could not be installed; see the lines above."
    # The project itself is installed, and used from where it is.
    rm -f "$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/workbench-source.pth"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation --editable "$project" \
        || die "Workbench could not be installed; see the lines above."
    printf '%s\n' "$wanted" >>"$stamp"
}

# Puts the packages of Node that packaging/node/package-lock.json names beside those of Python, where
# exports to TensorFlow.js look for them; a stamp keeps the second time instant.
make_node_packages() {
    local from=$project/packaging/node to=$venv/node wanted
    wanted=$(cat "$from/package.json" "$from/package-lock.json" | sha256sum | cut -d' ' -f1)
    if grep -qsx "$wanted" "$to/.workbench-setup"; then return; fi
    mkdir -p "$to"
    cp "$from/package.json" "$from/package-lock.json" "$to"
    (cd -P "$to" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null) \
        || die "Packages of Node could not be installed; see the lines above."
    printf '%s\n' "$wanted" >"$to/.workbench-setup"
}
