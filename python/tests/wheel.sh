#!/usr/bin/env bash
# Installs a wheel of python/wheels.sh in a virtual environment, and runs the tests of the Python package against it. Those that
# need a GPU, JAX or PyTorch are skipped.
#
#     python/tests/wheel.sh target/upload/cholupdate-...-manylinux_..._x86_64.whl [python3.10]
#     python/tests/wheel.sh target/upload/cholupdate-...-manylinux_..._aarch64.whl
#
# The interpreter is the one that is named, or python3. On x86-64 a wheel for 64-bit Arm is tested in part, in QEMU, with Debian's
# interpreter for that machine, CPython 3.11. It takes minutes, and needs Debian with qemu-user.
set -euo pipefail
wheel=$(realpath "${1:?"usage: wheel.sh WHEEL [INTERPRETER]"}")
interpreter=$(command -v "${2:-python3}") || { echo "$0: ${2:-python3} was not found" >&2 && exit 2; }
[[ $interpreter = /* ]] || interpreter=$PWD/$interpreter
cd "$(dirname "$0")"
pytest=(-q -p no:cacheprovider --config-file ../pyproject.toml --rootdir ..)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
"$interpreter" -m venv "$work/venv"
pip=("$work/venv/bin/pip" install --quiet --disable-pip-version-check)

# Warnings are errors: with these versions there are none.
pytest_and_numpy=(pytest==9.2.0 numpy==2.4.6)
others=(hypothesis==6.168.5 scipy==1.17.1)

if [[ $wheel != *aarch64.whl || $(uname -m) = aarch64 ]]; then
    # The last ones for CPython 3.10.
    if "$interpreter" -c 'import sys; sys.exit(sys.version_info >= (3, 11))'; then
        pytest_and_numpy=(pytest==9.2.0 numpy==2.2.6)
        others=(hypothesis==6.168.5 scipy==1.15.3)
    fi
    "${pip[@]}" "${pytest_and_numpy[@]}" "${others[@]}" "$wheel"
    "$work/venv/bin/pytest" "${pytest[@]}" .
    exit
fi

command -v qemu-aarch64 >/dev/null || { echo "$0: qemu-aarch64 was not found (Debian: qemu-user)" >&2 && exit 2; }
# Debian's packages for that machine, unpacked in a directory; the package lists of this machine stay as they are.
mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/root"
touch "$work/apt/status"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
echo "deb [arch=arm64 signed-by=$keys] http://deb.debian.org/debian bookworm main" >"$work/apt/sources.list"
apt=(
    apt-get --quiet --quiet
    -o APT::Sandbox::User=root -o APT::Architecture=arm64 -o APT::Architectures=arm64
    -o "Dir::Etc::sourcelist=$work/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::Lists=$work/apt/lists" -o "Dir::State::status=$work/apt/status" -o "Dir::Cache=$work/apt/cache"
)
"${apt[@]}" update
"${apt[@]}" --yes --download-only --no-install-recommends install python3.11-minimal libpython3.11-stdlib libstdc++6 >/dev/null
for package in "$work"/apt/cache/archives/*.deb; do dpkg -x "$package" "$work/root"; done
"${pip[@]}" --target "$work/site" --only-binary=:all: --python-version 3.11 --implementation cp --abi cp311 --abi abi3 --abi none \
    --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 --platform manylinux_2_17_aarch64 \
    --platform manylinux2014_aarch64 "${pytest_and_numpy[@]}" "$wheel"
# In QEMU, NumPy warns of a division by zero in products of matrices in single precision, which have none; warnings are errors here.
ignored=(-W "ignore:divide by zero encountered in matmul:RuntimeWarning")
tests=(test_{cholesky,functions,gradient,least_squares,pending,batch_arguments,complex_refused,ldlt_refused}.py)
PYTHONPATH=$work/site PYTHONHOME=$work/root/usr qemu-aarch64 -L "$work/root" "$work/root/usr/bin/python3.11" \
    -m pytest "${pytest[@]}" "${ignored[@]}" "${tests[@]}"
