#!/usr/bin/env bash
# Builds the shared library and the test program in C, and runs it and the tests of the Python package on 1 to 4 processes.
# MPICC and MPIRUN name MPI's commands, PYTHON an interpreter with mpi4py, numpy and pytest.
set -euo pipefail
cd "$(dirname "$0")/.."

# Open MPI refuses more processes than cores, and root. Others ignore these variables.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# A call in which a process waits for one that does not come must not wait forever.
on() { timeout --kill-after=10 120 "${MPIRUN:-mpirun}" -n "$@"; }

target=$(cargo metadata --format-version 1 --no-deps | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
# What builds the library; other features than its own make it share a build with other packages.
read -r -a build <<<"${CHOLUPDATE_MPI_BUILD:---package cholupdate-mpi}"
cargo build --release "${build[@]}"
stage=$target/mpi
rm -rf "$stage"
mkdir -p "$stage/lib"
cp "$target/release/libcholupdate_mpi.so" "$stage/lib"
# The name that programs load, however they were linked.
name=$(readelf -d "$stage/lib/libcholupdate_mpi.so" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[[ $name == libcholupdate_mpi.so.[0-9]* ]]
ln -s libcholupdate_mpi.so "$stage/lib/$name"
export LD_LIBRARY_PATH=$stage/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

warnings=(-Wall -Wextra -Werror -O1 -g)
# The header alone, as C and as C++, for which MPI's own interface is left out.
echo '#include <cholupdate_mpi.h>' | "${MPICC:-mpicc}" -std=c99 "${warnings[@]}" -Iinclude -fsyntax-only -x c -
echo '#include <cholupdate_mpi.h>' | "${MPICXX:-mpicxx}" -std=c++17 -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX "${warnings[@]}" -Iinclude -fsyntax-only -x c++ -

link=(-L"$stage/lib" -lcholupdate_mpi -lm)
scalapack=$(sed -n 's/.* => \(.*libscalapack-openmpi\.so\.[^ ]*\)$/\1/p' <<<"$(ldconfig -p)" | head -n 1)
scalapack=${CHOLUPDATE_SCALAPACK:-$scalapack}
if [ -n "$scalapack" ]; then
    link+=("$scalapack")
    warnings+=(-DHAS_SCALAPACK)
else
    echo "LEFT OUT: ScaLAPACK is not installed: its matrices were not tested"
fi
"${MPICC:-mpicc}" -std=c99 "${warnings[@]}" -Iinclude tests/capi/capi.c -o "$stage/capi" "${link[@]}"
passed=0
for ranks in 1 2 3 4; do
    on $ranks "$stage/capi"
    passed=$((passed + 1))
done

python=${PYTHON:-python3}
if "$python" -c 'import mpi4py, numpy, pytest' 2>/dev/null; then
    export CHOLUPDATE_MPI_LIBRARY=$stage/lib/libcholupdate_mpi.so PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1
    for ranks in 1 2 3 4; do
        on $ranks "$python" -m pytest -q --color=no -p no:cacheprovider --rootdir python python/tests
        passed=$((passed + 1))
    done
else
    echo "LEFT OUT: $python has no mpi4py, numpy or pytest: the Python package was not tested"
fi
echo "$passed passed, 0 failed"
