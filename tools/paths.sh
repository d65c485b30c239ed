# SPDX-License-Identifier: Apache-2.0
# Where everything lives, and how the set-up speaks to a person. Sourced by ./dev and by the other
# shell files in this folder; it only sets variables and functions and touches nothing on disk.
# The downloads are kept outside the clone, so that a second clone needs no network.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

if [ -z "${LIGHTMETER_CACHE:-}" ]; then
    if [ -n "${XDG_CACHE_HOME:-${HOME:-}}" ]; then
        LIGHTMETER_CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/lightmeter
    else
        LIGHTMETER_CACHE=$ROOT/.cache
    fi
fi
case $LIGHTMETER_CACHE in /*) ;; *) LIGHTMETER_CACHE=$PWD/$LIGHTMETER_CACHE ;; esac
export LIGHTMETER_CACHE

PHOTOS=$LIGHTMETER_CACHE/photos
MODELS=$LIGHTMETER_CACHE/models
BUILD=$ROOT/build

say() {
    printf 'set-up: %s\n' "$*" >&2
}

# Each further argument is a line of its own: what to do next.
die() {
    printf 'dev: %s\n' "$1" >&2
    shift
    [ $# -eq 0 ] || printf '     %s\n' "$@" >&2
    exit 1
}
