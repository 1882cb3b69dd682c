#!/usr/bin/env bash
# Installs the C library below target/, builds the test programs and the examples against the installed library, and runs them.
# With valgrind it also checks for leaks and invalid accesses.
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
c tests/loops.c loops
c tests/refusals.c refusals
c tests/batch.c batch
c tests/ldlt.c ldlt
c tests/gradient.c gradient
c tests/complex.c complex
c tests/fork.c fork
cxx tests/threads.cpp threads
cxx tests/complex.cpp complex-cxx
# The pkg-config file lists the libraries that the static library needs.
read -ra static <<<"$(pkg-config --static --libs-only-l cholupdate | sed 's/-lcholupdate//')"
"${CC:-gcc}" -std=c99 "${warnings[@]}" "${flags[@]}" tests/verbs.c -o "$bin/verbs-static" "$stage/lib/libcholupdate.a" "${static[@]}"
# A program without dependencies on the machine. The linker warns of calls that may still need it, for example to load a driver.
read -ra alone <<<"$(pkg-config --static --libs cholupdate)"
for program in verbs refusals fork; do
    "${CC:-gcc}" -std=c99 "${warnings[@]}" -static "${flags[@]}" "tests/$program.c" -o "$bin/$program-alone" "${alone[@]}" 2>"$bin/linker" ||
        { cat "$bin/linker" >&2; exit 1; }
done
c examples/quickstart.c quickstart
c examples/recursive_least_squares.c recursive_least_squares
cxx examples/least_squares.cpp least_squares
"${FC:-gfortran}" -std=f2018 "${warnings[@]}" -J "$bin" examples/quickstart.f90 -o "$bin/quickstart-fortran" "${libs[@]}"

passed=0
for program in verbs loops refusals batch ldlt gradient complex threads complex-cxx fork verbs-static verbs-alone refusals-alone fork-alone quickstart recursive_least_squares least_squares quickstart-fortran; do
    "$bin/$program"
    passed=$((passed + 1))
done
# The SONAMEs of the libraries, which programs load, however they were linked.
abi=$(pkg-config --modversion cholupdate)
abi=${abi%.*}
# No pipes to `grep --quiet`: it ends at once, and what writes to its pipe then fails.
has_name() { grep --quiet "(SONAME).*\[$1.$2\]" <<<"$(readelf -d "$stage/lib/$1")" && [ -e "$stage/lib/$1.$2" ]; }
has_name libcholupdate.so "$abi"
has_name libcholupdate_qrupdate.so 1
grep --quiet "(NEEDED).*\[libcholupdate.so.$abi\]" <<<"$(readelf -d "$bin/verbs")"
# A relative prefix is relative to the folder in which the script is called.
mkdir "$bin/called"
# Debian has a directory of libraries for each architecture.
multiarch=$("${CC:-gcc}" -print-multiarch)
multiarch=lib${multiarch:+/$multiarch}
(
    cd "$bin/called"
    CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$stage/..} "$OLDPWD/install.sh" here >/dev/null
    DESTDIR=there LIBDIR=/usr/$multiarch "$OLDPWD/install.sh" /usr >/dev/null
    [ "$(PKG_CONFIG_PATH=here/lib/pkgconfig pkg-config --variable=libdir cholupdate)" = "$PWD/here/lib" ]
    cmp "$stage/lib/libcholupdate.so" here/lib/libcholupdate.so
    cmp "$stage/lib/libcholupdate.so" "there/usr/$multiarch/libcholupdate.so"
    grep -qx prefix=/usr "there/usr/$multiarch/pkgconfig/cholupdate.pc"
    grep -qx "libdir=\${prefix}/$multiarch" "there/usr/$multiarch/pkgconfig/cholupdate.pc"
)
# CMake finds the library below a prefix and in Debian's directories, which were staged elsewhere.
if command -v cmake >/dev/null; then
    for place in "$stage" "$bin/called/there/usr"; do
        build=$bin/cmake-${place##*/}
        cmake -S examples -B "$build" -DCMAKE_PREFIX_PATH="$place" >"$bin/cmake.log" && cmake --build "$build" >>"$bin/cmake.log" ||
            { cat "$bin/cmake.log" >&2; exit 1; }
        for program in quickstart quickstart-static; do
            env -u LD_LIBRARY_PATH "$build/$program" >/dev/null
            passed=$((passed + 1))
        done
        grep --quiet "(RUNPATH).*\[$(realpath "$place")/" <<<"$(readelf -d "$build/quickstart")"
        if readelf -d "$build/quickstart-static" | grep cholupdate; then exit 1; fi
    done
    # Neither a later version nor one with another SONAME is found.
    for version in 99 0.0; do
        mkdir "$bin/cmake-$version"
        sed "s/find_package(cholupdate [0-9.]* /find_package(cholupdate $version /" examples/CMakeLists.txt >"$bin/cmake-$version/CMakeLists.txt"
        cp examples/quickstart.c "$bin/cmake-$version"
        if cmake -S "$bin/cmake-$version" -B "$bin/cmake-$version/build" -DCMAKE_PREFIX_PATH="$stage" >"$bin/cmake.log" 2>&1; then exit 1; fi
        grep -q "requested version \"$version\"" "$bin/cmake.log"
        passed=$((passed + 1))
    done
else
    echo "LEFT OUT: CMake is not installed: find_package was not tried"
fi
if command -v valgrind >/dev/null; then
    for program in verbs loops refusals batch ldlt gradient complex; do
        valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite "$bin/$program"
        passed=$((passed + 1))
    done
fi

# The GPU engines, on the driver in that directory: the fake driver of this project's tests runs on the CPU.
for program in device batch_device; do
    "${CC:-gcc}" -std=c99 "${warnings[@]}" "${flags[@]}" "tests/$program.c" -o "$bin/$program" "${libs[@]}" -ldl -lm
done
if [ -n "${CHOLUPDATE_FAKE_CUDA:-}" ]; then
    for program in device batch_device; do
        LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$CHOLUPDATE_FAKE_CUDA "$bin/$program"
        passed=$((passed + 1))
    done
else
    echo "LEFT OUT: CHOLUPDATE_FAKE_CUDA does not name the directory of a driver: the engines with a GPU were not tested"
fi

# The drop-in library, and a comparison with the original if it is installed: `apt-get install libqrupdate1`.
"${CC:-gcc}" -std=c99 "${warnings[@]}" -rdynamic tests/qrupdate.c -o "$bin/qrupdate" -lm -ldl
"${CC:-gcc}" -std=c99 "${warnings[@]}" tests/linpack.c -o "$bin/linpack" -L"$stage/lib" -lcholupdate_qrupdate -lm
"${CC:-gcc}" -std=c99 "${warnings[@]}" tests/published.c -o "$bin/published" -L"$stage/lib" -lcholupdate_qrupdate -lm
"${CXX:-g++}" -std=c++17 "${warnings[@]}" -rdynamic tests/xerbla.cpp -o "$bin/xerbla" -L"$stage/lib" -lcholupdate_qrupdate
for program in linpack published xerbla; do
    "$bin/$program"
    passed=$((passed + 1))
done
if grep --quiet 'libqrupdate\.so\.1' <<<"$(ldconfig -p)"; then
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
