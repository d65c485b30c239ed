# SPDX-License-Identifier: Apache-2.0
# Finds or fetches ONNX Runtime: the official library from its npm package, the C header from Debian.
# Sourced by tools/setup.sh and ./dev. LIGHTMETER_ONNXRUNTIME (or --onnxruntime PATH) names another
# installation: a library file, or a prefix with include/ and lib/. The library is opened at run time.

ORT_PART=$LIGHTMETER_CACHE/onnxruntime
ORT_HEADER_PART=$LIGHTMETER_CACHE/onnxruntime-header

# header_dir PREFIX: the folder under PREFIX that holds onnxruntime_c_api.h, if any.
header_dir() {
    local dir
    for dir in "$1/include/onnxruntime" "$1/include" "$1/include/onnxruntime/core/session"; do
        if [ -f "$dir/onnxruntime_c_api.h" ]; then
            printf '%s\n' "$dir"
            return 0
        fi
    done
}

library_in() {
    find "$1/lib" "$1/lib64" -maxdepth 2 -name 'libonnxruntime.so*' 2>/dev/null | LC_ALL=C sort | head -n 1
}

onnxruntime_named_check() {
    [ -n "${LIGHTMETER_ONNXRUNTIME:-}" ] || return 0
    [ -e "$LIGHTMETER_ONNXRUNTIME" ] || die "LIGHTMETER_ONNXRUNTIME: there is no $LIGHTMETER_ONNXRUNTIME" \
        "Name a libonnxruntime.so, or a folder with include/ and lib/, or leave it unset."
    [ -n "$(onnxruntime_library)" ] ||
        die "LIGHTMETER_ONNXRUNTIME: no lib/libonnxruntime.so* under $LIGHTMETER_ONNXRUNTIME" \
            "Name the library file itself, or the folder that holds lib/."
}

# The library to open at run time, or nothing.
onnxruntime_library() {
    if [ -n "${LIGHTMETER_ONNXRUNTIME:-}" ]; then
        if [ -d "$LIGHTMETER_ONNXRUNTIME" ]; then
            library_in "$(realpath "$LIGHTMETER_ONNXRUNTIME")"
        else
            realpath "$LIGHTMETER_ONNXRUNTIME"
        fi
    elif [ -f "$ORT_PART/lib/libonnxruntime.so.1" ]; then
        printf '%s\n' "$ORT_PART/lib/libonnxruntime.so.1"
    fi
}

# The folder of the C header, or nothing.
onnxruntime_include() {
    local dir=
    if [ -n "${LIGHTMETER_ONNXRUNTIME:-}" ] && [ -d "$LIGHTMETER_ONNXRUNTIME" ]; then
        dir=$(header_dir "$(realpath "$LIGHTMETER_ONNXRUNTIME")")
    fi
    [ -n "$dir" ] || dir=$(header_dir "$ORT_HEADER_PART")
    [ -n "$dir" ] || dir=$(header_dir /usr)
    [ -z "$dir" ] || printf '%s\n' "$dir"
}

parts_onnxruntime() {
    local key room arch
    onnxruntime_named_check
    if [ -z "${LIGHTMETER_ONNXRUNTIME:-}" ]; then
        key=$(part_key npm onnxruntime-node)
        if ! part_ready "$ORT_PART" "$key"; then
            case $(uname -m) in
            x86_64) arch=x64 ;;
            aarch64) arch=arm64 ;;
            *)
                say "no ONNX Runtime is published for $(uname -m): name one in LIGHTMETER_ONNXRUNTIME;" \
                    "without it the OCR example is left out"
                return 0
                ;;
            esac
            room=$(part_room onnxruntime)
            npm_fetch onnxruntime-node "$room" package.json \
                "bin/napi-v6/linux/$arch/libonnxruntime.so.1"
            mv "$room/bin/napi-v6/linux/$arch" "$room/lib" && rm -rf "$room/bin"
            part_commit "$room" "$ORT_PART" "$key"
        fi
    fi
    parts_onnxruntime_header
}

parts_onnxruntime_header() {
    local key room
    key=$(part_key header)
    part_ready "$ORT_HEADER_PART" "$key" && return 0
    [ -z "$(onnxruntime_include)" ] || [ -e "$ORT_HEADER_PART" ] || return 0
    room=$(part_room onnxruntime-header)
    if header_from_system "$room" || header_from_newer "$room"; then
        deb_unpack "$room"
        mv "$room/usr/include" "$room/include" && rm -rf "$room/usr" "$room/apt.log"
        part_commit "$room" "$ORT_HEADER_PART" "$key"
        return 0
    fi
    [ ! -s "$room/apt.log" ] || {
        sed 's/^/    /' "$room/apt.log" >&2
        die "could not fetch the header of ONNX Runtime (libonnxruntime-dev)" \
            "Check the network (apt-get update must work), then run this command again."
    }
    rm -rf "$room"
    say "the header of ONNX Runtime (Debian package libonnxruntime-dev) cannot be had here."
    say "  The OCR example and the tests that need it are left out. To have them: unpack a release of"
    say "  ONNX Runtime and name its folder in LIGHTMETER_ONNXRUNTIME, or use Debian 12 or newer."
}

header_from_system() {
    apt-cache show libonnxruntime-dev >/dev/null 2>&1 || return 1
    say "fetching the header of ONNX Runtime (libonnxruntime-dev; it is not installed)"
    deb_download "$1" libonnxruntime-dev
}

# Older releases of Debian lack the package: take it from the release that tools/parts.list names, by
# the mirror this machine already uses, with package lists of our own.
header_from_newer() {
    local mirror release source=$LIGHTMETER_CACHE/apt-newer.sources keyring
    release=$(awk '$1 == "header" { print $3 }' "$ROOT/tools/parts.list")
    mirror=$(debian_mirror)
    [ -n "$mirror" ] || return 1
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    {
        printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\n' "$mirror" "$release"
        [ ! -f "$keyring" ] || printf 'Signed-By: %s\n' "$keyring"
    } >"$source"
    say "fetching the header of ONNX Runtime (libonnxruntime-dev of Debian $release; it is not installed)"
    APT_SOURCE=(-o Dir::Etc::SourceList="$source" -o Dir::Etc::SourceParts=-)
    (
        LIGHTMETER_CACHE=$LIGHTMETER_CACHE/apt-newer
        apt_beside apt-get update && cd "$1" && apt_beside apt-get download libonnxruntime-dev
    ) >"$1/apt.log" 2>&1 && rm -rf "$LIGHTMETER_CACHE/apt-newer" "$source"
}

# The address of Debian's own archive among the sources of apt, or nothing (Ubuntu).
debian_mirror() {
    [ "$(. /etc/os-release && printf '%s' "$ID")" = debian ] || return 0
    apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(RELEASE) $(REPO_URI)' 'Created-By: Packages' |
        awk '{ uri = $NF } $1 == "Debian" && $3 !~ /-/ { print uri; found = 1; exit }
            uri ~ /\/debian\/?$/ && !guess { guess = uri } END { if (!found && guess) print guess }'
}
