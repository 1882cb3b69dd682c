#!/usr/bin/env bash
# All results of docs/benchmarks.md for one machine, and the page.
#
#     benches/all.sh cpu LABEL [FOLDER]    # docs/benchmarks/cpu_LABEL.csv: the CPU engine, some five minutes
#     benches/all.sh avx2 LABEL [FOLDER]   # docs/benchmarks/avx2_LABEL.csv: the same on one thread, limited to AVX2, two minutes
#     benches/all.sh gpu LABEL [FOLDER]    # docs/benchmarks/gpu_LABEL.csv: the engines with a GPU, some eight minutes
#
# FOLDER has compiled benchmarks, for a machine without Cargo; run it from the root of a copy of the repository. Peers that are
# missing are left out, and said: `pip install hyhound numpy`, PyTorch and JAX (CHOLUPDATE_BENCH_PYTHON names the Python that has
# them), Eigen and g++, qrupdate. CHOLUPDATE_BENCH=full takes more samples.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -ge 2 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
what=$1 label=$2 folder=${3:-}

export CHOLUPDATE_BENCH=${CHOLUPDATE_BENCH:-quick} CHOLUPDATE_BENCH_CSV=docs/benchmarks/${what}_$label.csv
export CHOLUPDATE_BENCH_TYPES=f64
failed=()

# A benchmark of this name, by Cargo or from the folder; with the settings that follow.
bench() {
    local name=$1 command
    shift
    command=(cargo bench --quiet -p cholupdate-bench --bench "$name" --)
    if [ -n "$folder" ]; then
        # `modify`, `modify-0123456789abcdef` or `something-modify`, the newest.
        command=("$(find "$folder" -maxdepth 1 -type f -regextype posix-extended -regex ".*/(.*-)?$name(-[0-9a-f]{16})?" \
            -printf '%T@ %p\n' | sort --numeric-sort | tail -n 1 | cut -d ' ' -f 2)" --bench)
        [ -n "${command[0]}" ] || { echo "MISSING: $name in $folder" && failed+=("$name") && return; }
    fi
    printf '\n==> %s %s (at %d s)\n' "$*" "$name" "$SECONDS"
    env "$@" "${command[@]}" || failed+=("$name")
}

mkdir -p docs/benchmarks
rm -f "$CHOLUPDATE_BENCH_CSV"
case $what in
cpu)
    bench modify CHOLUPDATE_BENCH_SECTIONS=table CHOLUPDATE_BENCH_N=16,64,256,1024,4000 CHOLUPDATE_BENCH_K=1,4,16,64 \
        CHOLUPDATE_BENCH_TYPES=f64,f32 RAYON_NUM_THREADS=1
    bench structure CHOLUPDATE_BENCH_N=64,256,1024 CHOLUPDATE_BENCH_K=1,16,64 RAYON_NUM_THREADS=1
    bench modify CHOLUPDATE_BENCH_SECTIONS=table CHOLUPDATE_BENCH_N=1024,4000,8000 CHOLUPDATE_BENCH_K=1,4,16,64
    ;;
avx2)
    bench modify CHOLUPDATE_ISA=avx2 CHOLUPDATE_BENCH_SECTIONS=table CHOLUPDATE_BENCH_N=16,64,256,1024,4000 CHOLUPDATE_BENCH_K=1,4,16,64 \
        CHOLUPDATE_BENCH_TYPES=f64,f32 RAYON_NUM_THREADS=1
    ;;
gpu)
    bench modify_device CHOLUPDATE_BENCH_N=512,2048,4096,8192,16384,32768 CHOLUPDATE_BENCH_K=1,16,64,256
    bench solve_device CHOLUPDATE_BENCH_N=1024,4096,16384 CHOLUPDATE_BENCH_K=1,16,64,256
    bench factorize_device CHOLUPDATE_BENCH_N=2048,8192,16384
    bench structure_device CHOLUPDATE_BENCH_N=1024,4096,8192
    ;;
*) echo "$0: \"$what\" is neither cpu, avx2 nor gpu" >&2 && exit 2 ;;
esac
bench report
[ ${#failed[@]} = 0 ] || { echo "FAILED: ${failed[*]}" && exit 1; }
