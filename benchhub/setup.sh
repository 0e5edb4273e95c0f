#!/bin/sh
# Brings what BenchHub needs onto this machine: system packages, .venv, the chart library.
#   setup.sh        for `make serve`
#   setup.sh lint   and the checkers
#   setup.sh test   and for the tests: Chromium, PostgreSQL, Redis
# Does nothing where nothing is missing. Every failure is one message and exit 1.
set -eu
cd "$(dirname "$0")/.."
goal=${1:-serve}
venv=.venv
stamp=$venv/.installed
# The environment takes 350 MB, with the checkers 650 MB; pip unpacks beside it.
if [ "$goal" = serve ]; then least_kb=600000; else least_kb=1000000; fi

fail() {
    echo "BenchHub: $*" >&2
    exit 1
}

# --- system packages -----------------------------------------------------------------------

find_python() {
    for name in ${PYTHON:-} python3 python3.13 python3.12 python3.11; do
        command -v "$name" >/dev/null 2>&1 || continue
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            command -v "$name"
            return 0
        fi
    done
    return 1
}

check_python() {
    command -v python3 >/dev/null 2>&1 || return 0 # it will be installed
    find_python >/dev/null && return 0
    fail "Python 3.11 or newer is needed; python3 here is $(python3 -V 2>&1).
  Another one may be named: make serve PYTHON=/path/to/python3"
}

missing_packages() {
    if ! python=$(find_python); then
        echo python3 python3-venv
    elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        echo python3-venv
    fi
    command -v cc >/dev/null 2>&1 || echo gcc
    printf '#include <stdio.h>\n' | cc -E -x c - >/dev/null 2>&1 || echo libc6-dev
    # What the kernels are compiled against; with another compiler's headers it may be there.
    printf '#include <numa.h>\n' | cc -E -x c - >/dev/null 2>&1 || echo libnuma-dev
    command -v lscpu >/dev/null 2>&1 || echo util-linux
    [ "$goal" = test ] || return 0
    command -v chromium >/dev/null 2>&1 || echo chromium fonts-liberation
    has_postgresql || echo postgresql
    command -v redis-server >/dev/null 2>&1 || command -v valkey-server >/dev/null 2>&1 ||
        echo redis-server
}

# Debian keeps the server's programs out of PATH, a folder for each version. The tests start a
# server of their own; whether one of the system's runs is all the same to them.
has_postgresql() {
    command -v initdb >/dev/null 2>&1 && return 0
    for name in "${POSTGRESQL:-/usr/lib/postgresql}"/*/bin/initdb; do
        [ -x "$name" ] && return 0
    done
    return 1
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    else
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    fi
}

may_install() {
    command -v apt-get >/dev/null 2>&1 || return 1
    [ "$(id -u)" = 0 ] && return 0
    command -v sudo >/dev/null 2>&1 || return 1
    [ -t 0 ] && [ -t 2 ] || sudo -n true 2>/dev/null
}

install_packages() {
    # Word splitting is meant: one argument for each package.
    packages=$(missing_packages | tr '\n' ' ')
    [ -n "$packages" ] || return 0
    line="apt-get update && apt-get install -y --no-install-recommends $packages"
    may_install || fail "these system packages are missing: $packages
  It may not install them itself here. As root, run:
    $line"
    if [ "$(id -u)" = 0 ]; then how="as root"; else how="by sudo"; fi
    echo "BenchHub: installing system packages $how: $packages"
    options="-o DPkg::Lock::Timeout=120 -o Dpkg::Use-Pty=0"
    # An old package list may still do; what decides is whether the install works.
    as_root apt-get $options -qq update || echo "BenchHub: apt-get update failed; trying on." >&2
    as_root apt-get $options -qq install -y --no-install-recommends $packages >/dev/null ||
        fail "the packages could not be installed (no network, or a full disk?). By hand:
    $line"
}

# --- Python --------------------------------------------------------------------------------

requirements() {
    if [ "$goal" = serve ]; then echo requirements.txt; else echo requirements-test.txt; fi
}

digest() { cat "$@" | cksum | tr ' ' '-'; }

room_for_install() {
    free=$(df -Pk . | awk 'NR == 2 {print $4}')
    [ "$free" -ge "$least_kb" ] ||
        fail "the disk of $(pwd) has $((free / 1000)) MB free; installing takes $((least_kb / 1000)) MB."
}

make_venv() {
    "$venv/bin/python" -m pip --version >/dev/null 2>&1 && return 0
    check_python
    python=$(find_python) || fail "python3 is missing."
    echo "BenchHub: making $venv with $("$python" -V)"
    rm -rf "$venv"
    "$python" -m venv "$venv" || fail "$venv could not be made."
}

# The stamp of the fuller set (tests) stands for the smaller one too.
is_installed() {
    "$venv/bin/python" -c '' 2>/dev/null || return 1
    [ "$(cat "$stamp-test" 2>/dev/null)" = "$(digest requirements.txt requirements-test.txt)" ] && return 0
    [ "$goal" = serve ] && [ "$(cat "$stamp-serve" 2>/dev/null)" = "$(digest requirements.txt)" ]
}

install_requirements() {
    is_installed && return 0
    room_for_install
    make_venv
    rm -f "$stamp-test" "$stamp-serve"
    echo "BenchHub: installing $(requirements) into $venv"
    "$venv/bin/python" -m pip install --quiet --no-input --disable-pip-version-check \
        --prefer-binary --retries 2 -r "$(requirements)" >"$venv/pip.log" 2>&1 || {
        tail -n 5 "$venv/pip.log" >&2
        if grep -q 'No space left' "$venv/pip.log"; then fail "the disk is full."; fi
        fail "the Python packages could not be installed (no network?). All of it: $venv/pip.log"
    }
    if [ "$goal" = serve ]; then
        digest requirements.txt >"$stamp-serve"
    else
        digest requirements.txt requirements-test.txt >"$stamp-test"
    fi
}

# --- the chart library ---------------------------------------------------------------------

# The npm package holds a third of the bundle in the plotly wheel, which does as well: a
# failure here is remembered and stops nothing.
install_chart_library() {
    command -v npm >/dev/null 2>&1 || return 0
    now=$(digest package-lock.json)
    [ "$(cat "$venv/.npm" 2>/dev/null)" = "$now" ] && return 0
    echo "BenchHub: fetching the chart library by npm"
    npm ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 --fetch-timeout=30000 \
        >"$venv/npm.log" 2>&1 ||
        echo "BenchHub: npm failed ($venv/npm.log); the copy inside the plotly wheel is used."
    echo "$now" >"$venv/.npm"
}

is_installed || check_python
install_packages
install_requirements
install_chart_library
