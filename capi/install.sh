#!/usr/bin/env bash
# Builds the C library and installs it: header, shared and static library, pkg-config file. What `cargo cinstall` does, for who
# has no cargo-c.
#
#     capi/install.sh PREFIX            # PREFIX/include, PREFIX/lib, PREFIX/lib/pkgconfig
#     DESTDIR=/tmp/stage capi/install.sh /usr
set -euo pipefail
cd "$(dirname "$0")"

prefix=${1:?"usage: install.sh PREFIX"}
root=${DESTDIR:-}$prefix
version=$(sed -n '/^\[workspace.package\]/,/^$/s/^version = "\(.*\)"$/\1/p' ../Cargo.toml)
abi=${version%.*}

cargo build --locked --release --package cholupdate-capi --package cholupdate-qrupdate
built=${CARGO_TARGET_DIR:-../target}/release
mkdir -p "$root/include" "$root/lib/pkgconfig"
install -m 644 include/cholupdate.h "$root/include/"
install -m 644 "$built/libcholupdate_c.a" "$root/lib/libcholupdate.a"
install -m 755 "$built/libcholupdate_c.so" "$root/lib/libcholupdate.so.$version"
ln -sf "libcholupdate.so.$version" "$root/lib/libcholupdate.so.$abi"
ln -sf "libcholupdate.so.$abi" "$root/lib/libcholupdate.so"
install -m 755 "$built/libcholupdate_qrupdate.so" "$root/lib/"

cat >"$root/lib/pkgconfig/cholupdate.pc" <<PC
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: cholupdate
Description: Rank-k Cholesky up- and downdating
Version: $version
Libs: -L\${libdir} -lcholupdate
Libs.private: -lgcc_s -lutil -lrt -lpthread -lm -ldl -lc
Cflags: -I\${includedir}
PC
