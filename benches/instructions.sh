#!/usr/bin/env bash
# Instructions that an update takes on 64-bit Arm, counted by QEMU: no Arm machine is needed, and no time is measured.
#
#     benches/instructions.sh [n ...]
#
# Needs rustup's target aarch64-unknown-linux-gnu, and of Debian gcc, gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user.
set -euo pipefail
cd "$(dirname "$0")/.."

target=aarch64-unknown-linux-gnu
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
program=$(cargo bench --locked --quiet --package cholupdate-bench --no-default-features --bench instructions --target $target \
    --no-run --message-format json | sed -n 's/.*"executable":"\([^"]*instructions[^"]*\)".*/\1/p')
plugin=$(mktemp --suffix .so)
trap 'rm "$plugin"' EXIT
gcc -shared -fPIC -O2 -o "$plugin" benches/instructions.c

# Threads that wait execute instructions, more or fewer of them.
export RAYON_NUM_THREADS=1

# Of this many updates.
count() {
    CHOLUPDATE_BENCH_UPDATES=$1 qemu-aarch64 -L /usr/aarch64-linux-gnu -plugin "$plugin" "$program" 2>&1 >/dev/null |
        sed -n 's/^instructions: //p'
}

echo '| n | k | portable | NEON | flops per instruction, portable | NEON |'
echo '|---|---|---|---|---|---|'
for n in "${@:-256}"; do
    for k in 1 4 16 64; do
        line="| $n | $k"
        rates=
        for isa in portable neon; do
            export CHOLUPDATE_ISA=$isa CHOLUPDATE_BENCH_N=$n CHOLUPDATE_BENCH_K=$k
            each=$((($(count 12) - $(count 2)) / 10))
            line+=" | $(((each + 500) / 1000)) k"
            rates+=" | $(awk -v flops=$((2 * k * n * n)) -v each=$each 'BEGIN { printf "%.2f", flops / each }')"
        done
        echo "$line$rates |"
    done
done
