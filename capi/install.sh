#!/usr/bin/env bash
# Builds the C library and installs it: header, shared and static library, what pkg-config and CMake find them by.
#
#     capi/install.sh PREFIX            # PREFIX/include, PREFIX/lib, PREFIX/lib/pkgconfig, PREFIX/lib/cmake
#     DESTDIR=target/stage LIBDIR=/usr/lib/x86_64-linux-gnu capi/install.sh /usr
#
# Relative paths are those of the directory that it is called in.
set -euo pipefail

[ "$(uname)" = Linux ] || { echo "$0: only Linux is supported" >&2 && exit 2; }
absolute() { case $1 in /* | '') echo "$1" ;; *) echo "$PWD/$1" ;; esac; }
prefix=$(absolute "${1:?"usage: install.sh PREFIX"}")
libdir=$(absolute "${LIBDIR:-$prefix/lib}")
staged=$(absolute "${DESTDIR:-}")
lib=$staged$libdir
include=$staged$prefix/include
target=$(absolute "${CARGO_TARGET_DIR:-}")
cd "$(dirname "$0")"
target=${target:-$(cd .. && pwd)/target}

version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' ../Cargo.toml)
abi=${version%.*}

# Messages of panics name source files: without the folders of the machine that builds, unless RUSTFLAGS are set.
sources=${CARGO_HOME:-$HOME/.cargo}/registry/src
built=$target/release
# Cargo replaces them, unless a configuration of Cargo sets another target.
rm -f "$built"/libcholupdate_{c.a,c.so,qrupdate.so}
# CHOLUPDATE_CAPI_BUILD may name further packages, with which it then shares a build of the library.
# shellcheck disable=SC2086 # none is no argument
env -u CARGO_BUILD_TARGET cargo build --locked --release --package cholupdate-capi --package cholupdate-qrupdate ${CHOLUPDATE_CAPI_BUILD:-} --target-dir "$target" \
    --config "build.rustflags = ['--remap-path-prefix=$sources=', '--remap-path-prefix=$target=']"
if [ ! -f "$built/libcholupdate_c.so" ]; then
    echo "$0: no libraries in $built: is build.target set in a configuration of Cargo?" >&2
    exit 2
fi

# A shared library by its whole version, with the links by its SONAME, for programs, and by its bare name, for the linker.
shared() {
    install -m 755 "$1" "$lib/$2.$version"
    ! command -v strip >/dev/null || strip --strip-unneeded "$lib/$2.$version"
    ln -sf "$2.$version" "$lib/$2.$3"
    ln -sf "$2.$3" "$lib/$2"
}
# The static library as one object of what the interface needs, a fifth of all that Rust puts into it, with no other symbols. The
# GNU linker does this; without it the library is installed as it is.
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
static_library() {
    local version
    version=$(ld --version 2>/dev/null || true)
    nm --extern-only --defined-only --format=posix "$1" 2>/dev/null | sed -n 's/^\(cholupdate_[a-z0-9_]*\) T .*/\1/p' |
        sort -u >"$work/symbols" || true
    if [[ $version != "GNU ld "* ]] || [ ! -s "$work/symbols" ] || ! command -v objcopy >/dev/null; then
        install -m 644 "$1" "$2"
        return
    fi
    sed 's/^/-u /' "$work/symbols" >"$work/roots"
    ld -r --gc-sections --force-group-allocation -o "$work/all.o" "@$work/roots" --whole-archive "$1"
    objcopy --keep-global-symbols="$work/symbols" --strip-unneeded --remove-section=.llvmbc --remove-section=.llvmcmd "$work/all.o"
    rm -f "$2"
    ar rcs "$2" "$work/all.o"
    chmod 644 "$2"
}
mkdir -p "$include" "$lib/pkgconfig" "$lib/cmake/cholupdate"
install -m 644 include/cholupdate.h "$include/"
static_library "$built/libcholupdate_c.a" "$lib/libcholupdate.a"
shared "$built/libcholupdate_c.so" libcholupdate.so "$abi"
# The interface is qrupdate's, which does not change with this library's versions.
shared "$built/libcholupdate_qrupdate.so" libcholupdate_qrupdate.so 1

# What unwinds stacks comes with the compiler, as the shared libgcc_s or, for `-static`, as libgcc_eh: it is not for us to say which.
cat >"$lib/pkgconfig/cholupdate.pc" <<PC
prefix=$prefix
libdir=${libdir/#"$prefix/"/\${prefix\}/}
includedir=\${prefix}/include

Name: cholupdate
Description: Rank-k Cholesky up- and downdating
Version: $version
Libs: -L\${libdir} -lcholupdate
Libs.private: -lutil -lrt -lpthread -lm -ldl
Cflags: -I\${includedir}
PC

# For find_package of CMake. The path is relative if the libraries are below the prefix, which may then be moved.
from_libdir=$prefix
[[ $libdir/ != "$prefix"/* ]] || from_libdir=$(realpath --canonicalize-missing --no-symlinks --relative-to="$libdir" "$prefix")
for file in cmake/*.cmake; do
    sed -e "s|@VERSION@|$version|g" -e "s|@ABI@|$abi|g" -e "s|@PREFIX_FROM_LIBDIR@|$from_libdir|g" \
        "$file" >"$lib/cmake/cholupdate/${file##*/}"
done
