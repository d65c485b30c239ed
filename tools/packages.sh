# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages of tools/packages.list that are missing. Sourced by tools/setup.sh.
# Asks dpkg first, so a machine that has everything is not touched and needs neither network nor root.
# Installs nothing that the list does not name (no recommended packages).

APT_OPTIONS=(-o DPkg::Lock::Timeout=300 -o Acquire::Retries=2)

# packages_named SET...: the names in these sets, plus what depends on the machine.
packages_named() {
    local set machine
    machine=$(dpkg --print-architecture)
    for set in "$@"; do
        awk -v set="$set" -v machine="$machine" '$1 == set && ($3 == "" || $3 == machine) { print $2 }' \
            "$ROOT/tools/packages.list"
        [ "$set" != test ] || packages_clang_runtime
    done
}

# The sanitizer and fuzzer runtimes carry clang's version in their name. Old releases ship them
# with clang itself; then there is no such package and nothing to add.
packages_clang_runtime() {
    local version name
    if command -v clang >/dev/null &&
        ls "$(clang -print-resource-dir)"/lib/linux/libclang_rt.fuzzer-*.a >/dev/null 2>&1; then
        return 0
    fi
    version=$(apt-cache depends clang 2>/dev/null | sed -n 's/.*Depends: clang-\([0-9][0-9]*\)$/\1/p' | head -n 1)
    name=libclang-rt-$version-dev
    if [ -n "$version" ] && apt-cache show "$name" >/dev/null 2>&1; then
        printf '%s\n' "$name"
    fi
}

# packages_missing NAME...: those that dpkg does not know as installed.
packages_missing() {
    { dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true; } |
        awk 'NR == FNR { if ($2 == "installed") have[$1] = 1; next } !($1 in have)' - <(printf '%s\n' "$@")
}

# packages_as_root COMMAND...: runs it with root's rights, or says how a person can.
packages_as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo DEBIAN_FRONTEND=noninteractive "$@"
    else
        return 127
    fi
}

packages_install() {
    local missing=("$@") log
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
        die "these Debian packages are missing, and installing them needs root or sudo:" \
            "${missing[*]}" "As root, run:" \
            "  apt-get update && apt-get install --no-install-recommends ${missing[*]}" \
            "and then this command again."
    fi
    say "installing Debian packages: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    packages_as_root apt-get "${APT_OPTIONS[@]}" -qq update >&2 ||
        say "apt-get update did not finish; trying with the package lists that are here"
    log=$(mktemp)
    packages_as_root apt-get "${APT_OPTIONS[@]}" -y -qq install --no-install-recommends \
        -o Dpkg::Use-Pty=0 "${missing[@]}" >"$log" 2>&1 || {
        tail -n 30 "$log" >&2
        die "apt-get could not install: ${missing[*]}" \
            "The end of its output is above, all of it in $log. Without a network, connect one and run" \
            "this command again; a package that apt cannot find needs Debian 12 or newer, or Ubuntu" \
            "24.04 or newer with the 'universe' component."
    }
    rm -f "$log"
}

# packages_follow [SET]: what the tests of the hooks follow, or another set, as far as this release has it.
packages_follow() {
    local missing known=() name
    mapfile -t missing < <(packages_missing $(packages_named "${1:-follow}"))
    for name in "${missing[@]}"; do
        if apt-cache show "$name" >/dev/null 2>&1; then
            known+=("$name")
        else
            say "this release has no package $name: the tests that need it are skipped"
        fi
    done
    [ ${#known[@]} -eq 0 ] || packages_install "${known[@]}"
}

# packages_ensure SET...: everything in these sets is installed when this returns.
packages_ensure() {
    local missing
    if [ -n "${LIGHTMETER_NO_PACKAGES:-}" ]; then
        return 0
    fi
    command -v apt-get >/dev/null && command -v dpkg-query >/dev/null ||
        die "this machine has no apt-get; the set-up knows Debian 12+ and Ubuntu only." \
            "Install the tools and libraries named in tools/packages.list in your system's way," \
            "then run this command again with LIGHTMETER_NO_PACKAGES=1."
    mapfile -t missing < <(packages_missing $(packages_named "${@/hosts/}"))
    if [ ${#missing[@]} -gt 0 ]; then
        packages_install "${missing[@]}"
        # A fresh machine had no package lists: only now can the version in some names be known.
        mapfile -t missing < <(packages_missing $(packages_named "${@/hosts/}"))
        [ ${#missing[@]} -eq 0 ] || packages_install "${missing[@]}"
    fi
    case " $* " in
    *" test "*) packages_follow ;;&
    *" hosts "*) packages_follow hosts ;;
    esac
}
