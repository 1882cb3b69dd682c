#!/usr/bin/env bash
# Builds the source distribution and the wheels of all platforms in target/upload, on Linux with rustup. Zig links for other systems
# and for old versions of glibc, MinGW for Windows. A platform has two wheels: one for CPython 3.10 and all later versions, and one
# for free-threaded CPython 3.14.
#
#     python/wheels.sh                                  # all, for an upload
#     python/wheels.sh aarch64-unknown-linux-gnu        # those of some targets of Rust
set -euo pipefail
cd "$(dirname "$0")/.."

targets=("$@")
if [ $# = 0 ]; then
    targets=({x86_64,aarch64}-unknown-linux-gnu x86_64-unknown-linux-musl {aarch64,x86_64}-apple-darwin x86_64-pc-windows-gnu)
fi
if [[ " ${targets[*]} " = *-windows-gnu* ]] && ! command -v x86_64-w64-mingw32-gcc >/dev/null; then
    echo "$0: x86_64-w64-mingw32-gcc was not found (Debian: gcc-mingw-w64-x86-64)" >&2
    exit 2
fi
# What is in this folder is uploaded: files of other versions are deleted first, and all files before all are built.
upload=target/upload
mkdir -p "$upload"
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' Cargo.toml)
: "${version:?"not found in Cargo.toml"}"
find "$upload" -type f ! -name "cholupdate-$version[-.]*" -delete
[ $# != 0 ] || find "$upload" -type f -delete

tools=target/wheel-tools
pinned="maturin==1.16.0 ziglang==0.15.2"
if [ "$(cat "$tools/pinned" 2>/dev/null)" != "$pinned" ]; then
    python3 -m venv --clear "$tools"
    # shellcheck disable=SC2086
    "$tools/bin/pip" install --quiet --disable-pip-version-check $pinned
    echo "$pinned" >"$tools/pinned"
fi
# maturin finds Zig by the first interpreter there.
export PATH=$PWD/$tools/bin:$PATH

# Messages of panics name source files: without the folders of the machine that builds.
sources=${CARGO_HOME:-$HOME/.cargo}/registry/src
export CARGO_ENCODED_RUSTFLAGS="--remap-path-prefix=$sources="$'\x1f'"--remap-path-prefix=$PWD/target="
# A wheel for a target, with further arguments of maturin.
wheel() {
    local target=$1 linker=(--zig) arguments=()
    shift
    if [[ $target = *-windows-gnu ]]; then
        # maturin tells MinGW's linker to export PyInit_cholupdate._cholupdate, which does not exist: it becomes another name of the
        # function.
        linker=() arguments=(-- -C link-arg=-Wl,--defsym=PyInit_cholupdate._cholupdate=PyInit__cholupdate)
    fi
    maturin build --release --locked --manifest-path python/Cargo.toml --target-dir "$PWD/target" --out "$upload" \
        --target "$target" "${linker[@]}" "$@" "${arguments[@]}"
}

maturin sdist --manifest-path python/Cargo.toml --out "$upload"
for target in "${targets[@]}"; do
    rustup --quiet target add "$target"
    wheel "$target"
    wheel "$target" --no-default-features --interpreter python3.14t
done
