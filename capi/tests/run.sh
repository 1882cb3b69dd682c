#!/usr/bin/env bash
# Installs the C library below target/, builds the test programs and the examples against what is installed, and runs them.
# Leaks and wrong accesses are looked for where valgrind is there.
set -euo pipefail
cd "$(dirname "$0")/.."

stage=$(cd .. && pwd)/target/capi
rm -rf "$stage"
./install.sh "$stage" >/dev/null
export PKG_CONFIG_PATH=$stage/lib/pkgconfig LD_LIBRARY_PATH=$stage/lib
read -ra flags <<<"$(pkg-config --cflags cholupdate)"
read -ra libs <<<"$(pkg-config --libs cholupdate)"
warnings=(-Wall -Wextra -Werror -pedantic -O1 -g)

bin=$stage/tests
mkdir -p "$bin"
c() { "${CC:-gcc}" -std=c99 "${warnings[@]}" "${flags[@]}" "$1" -o "$bin/$2" "${libs[@]}" -lm; }
cxx() { "${CXX:-g++}" -std=c++17 "${warnings[@]}" "${flags[@]}" "$1" -o "$bin/$2" "${libs[@]}" -lpthread; }

# The header alone, as C and as C++.
echo '#include <cholupdate.h>' | "${CC:-gcc}" -std=c99 "${warnings[@]}" "${flags[@]}" -fsyntax-only -x c -
echo '#include <cholupdate.h>' | "${CXX:-g++}" -std=c++17 "${warnings[@]}" "${flags[@]}" -fsyntax-only -x c++ -

c tests/verbs.c verbs
c tests/refusals.c refusals
cxx tests/threads.cpp threads
# What the static library needs is in the pkg-config file.
read -ra static <<<"$(pkg-config --static --libs-only-l cholupdate | sed 's/-lcholupdate//')"
"${CC:-gcc}" -std=c99 "${warnings[@]}" "${flags[@]}" tests/verbs.c -o "$bin/verbs-static" "$stage/lib/libcholupdate.a" "${static[@]}"
c examples/quickstart.c quickstart
cxx examples/least_squares.cpp least_squares
"${FC:-gfortran}" -std=f2018 "${warnings[@]}" -J "$bin" examples/quickstart.f90 -o "$bin/quickstart-fortran" "${libs[@]}"

passed=0
for program in verbs refusals threads verbs-static quickstart least_squares quickstart-fortran; do
    "$bin/$program"
    passed=$((passed + 1))
done
readelf -d "$bin/verbs" | grep -q 'libcholupdate.so.0' # the name that the library says it has
if command -v valgrind >/dev/null; then
    for program in verbs refusals; do
        valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite "$bin/$program"
        passed=$((passed + 1))
    done
fi

# The engines with a GPU, on the driver in that directory: that of this project's tests runs on the CPU.
"${CC:-gcc}" -std=c99 "${warnings[@]}" "${flags[@]}" tests/device.c -o "$bin/device" "${libs[@]}" -ldl
if [ -n "${CHOLUPDATE_FAKE_CUDA:-}" ]; then
    LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$CHOLUPDATE_FAKE_CUDA "$bin/device"
    passed=$((passed + 1))
else
    echo "LEFT OUT: CHOLUPDATE_FAKE_CUDA does not name the directory of a driver: the engines with a GPU were not tested"
fi

# The drop-in, and against the original where that is: `apt-get install libqrupdate1`.
"${CC:-gcc}" -std=c99 "${warnings[@]}" -rdynamic tests/qrupdate.c -o "$bin/qrupdate" -lm -ldl
"${CC:-gcc}" -std=c99 "${warnings[@]}" tests/linpack.c -o "$bin/linpack" -L"$stage/lib" -lcholupdate_qrupdate -lm
"${CC:-gcc}" -std=c99 "${warnings[@]}" tests/published.c -o "$bin/published" -L"$stage/lib" -lcholupdate_qrupdate -lm
"${CXX:-g++}" -std=c++17 "${warnings[@]}" -rdynamic tests/xerbla.cpp -o "$bin/xerbla" -L"$stage/lib" -lcholupdate_qrupdate
for program in linpack published xerbla; do
    "$bin/$program"
    passed=$((passed + 1))
done
if ldconfig -p | grep -q 'libqrupdate\.so\.1'; then
    "$bin/qrupdate" "$stage/lib/libcholupdate_qrupdate.so" libqrupdate.so.1
    passed=$((passed + 1))
else
    echo "LEFT OUT: libqrupdate.so.1 is not installed: the drop-in was not compared with it"
fi
if command -v Rscript >/dev/null; then
    Rscript examples/qrupdate.R "$stage/lib/libcholupdate_qrupdate.so"
    passed=$((passed + 1))
else
    echo "LEFT OUT: R is not installed: its example was not run"
fi
echo "$passed passed, 0 failed"
