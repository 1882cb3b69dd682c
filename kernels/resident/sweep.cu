// Sweeps of the resident engine: L (n x n) becomes the factor of L L^T + S V V^T, one rank block (16 columns of V, or 32
// in sweep_wide.cu) a sweep.
//
// With D the diagonal block of a panel, V_D its rows of V, and S = 1 or -1 the sign of the rank block:
//
//     P = D^-1 V_D      V <- V - L P  (rows below)      G <- G + P^T P
//
// V stays in its initial basis, so that all of this is matrix products; before that basis is badly conditioned, a
// panel rebases (basis.cuh). The new L comes from the same P (Bennett coefficients, bennett.cuh), which keeps L and V
// consistent, however ill-conditioned D is. If P of one panel alone is too large, or 1 + S P^T P badly conditioned,
// the panel takes the Householder fallback: it is eliminated column by column (householder.cuh). Which of the two a
// panel takes is decided in solve_panels (diagonal_blocks.cuh).
//
// A row block is 128 rows of L. A thread block processes one at a time, with V of these rows in registers. The work is
// divided into tasks (task.cuh):
//   - A critical-path task transforms V alone through the last panel ranges before the row block's diagonal, and
//     through its two diagonal blocks. That is less than half of the work, as in a dense triangular solve (Hogg, SIAM
//     J. Sci. Comput. 35, 2013). It waits for the panels one after the other, and other row blocks wait for its own.
//   - Update tasks compute the new L of those panel ranges afterwards, as many at a time as the device has room for,
//     from V as the critical-path task has saved it at the beginning of each range.
//   - Forwarding tasks transform L and V through the panel ranges before those, and pass V to the next range.
//   - Inverting tasks invert a diagonal block that the previous sweep has left. Those behind the last sweep are for later
//     launches and solves.
//
// Thread blocks wait for each other by flags in device memory (common/flags.cuh), and right before the diagonal by the
// payload in the records (payload.cuh). Each thread block takes the next task of a list, in which every task comes
// after all tasks that it waits for. So a block waits only for blocks that are running or done, and the launch needs
// no particular number of resident blocks.
//
// Shapes and memory: Sweep and Launch in sweep_args.cuh. Read: from, v and, for the first sweep, inverse and refine (as
// invert.cu leaves them). Written: to, saved_v, records, pivots, status, flags, and inverse and refine of later sweeps.
// Before the launch all bits of records are ones and flags are zeros. V, pivots and status may be in host memory.
//
// Several devices (sweep_distributed.cu): each has the tasks of its own row blocks, in the order that all of them have on
// one device, so that again each waits for earlier ones alone. The launches run at the same time. Records and the flags
// of panels are all that they have in common; before any of the launches those of all devices are as above. If a device
// fails, the host sets `stop`, and the others end with results that are not used.
//
// Launch: one block of 256 threads for each task; at most 16 sweeps, 2^14 row blocks and 2^12 panel ranges. Tasks: for
// each sweep and row block, one critical-path task from a panel range before the row block's own on (from that only
// where it is the first), and one for each panel range up to the row block's own, which is a forwarding task before
// the critical-path task's first range and an update task from there on; for each sweep but the first and each
// diagonal block, one inverting task. `v_slots` is more than the panel ranges that a critical-path task goes through.
// Dynamic shared memory: FRONT_BYTES, and after it MIN_SLOTS to 3 `slots`, each for a record or a tile (SLOT).
#include "common/inverse.cuh"
#include "common/layout.cuh"
#include "resident/critical_path.cuh"
#include "resident/update_task.cuh"

__device__ constexpr size_t larger(size_t a, size_t b) { return a > b ? a : b; }

// Shared memory for 64 columns of L in 128 rows, and for the payloads of two panels.
template <class T>
constexpr size_t ROOM_BYTES = ROW_BLOCK * PANEL_COLS * sizeof(T);
constexpr size_t PAYLOAD_BYTES = Payload::IN_PARTS ? 2 * PANEL_COLS * RANK_BLOCK * sizeof(double) : 0;

// Shared memory of a critical-path task before its tiles: L and payloads, and later DiagonalShared.
template <class T>
constexpr size_t TILES_AT = larger(ROOM_BYTES<T> + PAYLOAD_BYTES, sizeof(DiagonalShared));

// Doubles of a slot: room for a record or for a tile. Three tiles begin before the place of three wide records, and are
// smaller.
constexpr int SLOT = larger(STAGED, TILE), MAX_SLOTS = 3, MIN_SLOTS = Payload::IN_PARTS ? MAX_SLOTS : 1;
constexpr size_t SMALLER_TILES = MIN_SLOTS == MAX_SLOTS ? MAX_SLOTS * (SLOT - TILE) * sizeof(double) : 0;

// Shared memory of a task besides the slots: room for L, or the memory of an inverting task or of a critical-path task
// in its place.
template <class T>
constexpr size_t FRONT_BYTES =
    larger(ROOM_BYTES<T>, larger(sizeof(InverseShared), TILES_AT<T> - SMALLER_TILES));

// Not inlined, so that its registers do not count for the other tasks.
template <class T>
__device__ __noinline__ void invert_apart(InverseShared& shared, const T* l, long long l_stride,
                                          double* inverse, int* refine, long long height) {
    invert(shared, l, l_stride, inverse, refine, height);
}

// Whether launches fill memory for the next one. The wide kernel has no registers for it.
constexpr int FILLS_NEXT = !IS_DISTRIBUTED && RANK_BLOCK == 16;

// Fills the share of a panel, and of its row block with the first one, in the records and flags of the next launch.
template <class T>
__device__ __forceinline__ void fill_next(const Launch<T>& launch, const Task<T>& task, int panel) {
    static_assert(RECORD % 2 == 0, "records are filled by 16 bytes");
    Word<long long>* const ones = (Word<long long>*)(launch.next_records + (long long)panel * RECORD);
    for (int i = threadIdx.x; i < RECORD / 2; i += THREADS) ones[i] = {{-1, -1}};
    int* const flags = launch.next_flags + COMMON_FLAGS;
    if (threadIdx.x == 0) flags[panel] = 0;
    if (panel % ROW_BLOCK_PANELS != 0) return;
    const int ranges = task.ranges();
    for (int i = threadIdx.x; i < 2 * ranges; i += THREADS) {
        const int row_block = i < ranges ? task.row_block : task.row_blocks() + task.row_block;
        flags[task.panels() + row_block * ranges + i % ranges] = 0;
    }
    if (panel == 0 && threadIdx.x < COMMON_FLAGS) launch.next_flags[threadIdx.x] = 0;
}

// An inverting task. Behind the last sweep it fills memory for the next launch before it waits.
template <class T>
__device__ __forceinline__ void invert_diagonal_block(const Launch<T>& launch, const Task<T>& task,
                                                      InverseShared& shared) {
    const Sweep<T>& sweep = task.sweep;
    const int panel = task.row_block * ROW_BLOCK_PANELS + task.range;
    const long long first = (long long)panel * PANEL_COLS;
    if (FILLS_NEXT && launch.next_flags) fill_next(launch, task, panel);
    if (threadIdx.x == 0) task.wait_for_l(task.own_range());
    __syncthreads();
    invert_apart(shared, sweep.from + first * (sweep.l_stride + 1), sweep.l_stride,
                 sweep.inverse + first * PANEL_COLS, sweep.refine + panel, sweep.n - first);
    task.publish_l();
}

template <class T>
__device__ __forceinline__ void take_task(const Launch<T>& launch, int slots, const Peers* peers) {
    constexpr int FRONT = FRONT_BYTES<T> / sizeof(double);
    static_assert(WARPS * sizeof(BennettShared) <= TILE * MIN_SLOTS * sizeof(double), "they lie where tiles do");
    DYNAMIC_SHARED(double, memory);
    __shared__ unsigned word;
    if (threadIdx.x == 0) {
        const unsigned number = atomicAdd(launch.sweep.flags, 1);
        word = IS_DISTRIBUTED && number >= gridDim.x ? NO_TASK : launch.tasks[number];
    }
    __syncthreads();
    if (IS_DISTRIBUTED && word == NO_TASK) return;
    const Task<T> task(launch, word, peers);
    const MmaLane at;
    const WarpRowsOfL<T> rows_of_l{task.sweep,
                                   (long long)task.row_block * ROW_BLOCK + WARP_ROWS * at.warp + first_row(at),
                                   (T*)memory + WARP_ROWS * at.warp * PANEL_COLS};
    if (task.kind == CRITICAL_PATH)
        critical_path(at, task, rows_of_l, slots, memory, memory + ROOM_BYTES<T> / sizeof(double),
                      memory + TILES_AT<T> / sizeof(double));
    else if (task.kind == INVERTING)
        invert_diagonal_block(launch, task, *(InverseShared*)memory);
    else
        update(at, task, rows_of_l, slots, memory + FRONT);
}

// The prefix of the module's names.
#ifndef SWEEP
#define SWEEP sweep
#endif
#ifdef DISTRIBUTED
#define KERNEL(NAME, T)                                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS, 1)                                                 \
        NAME(const Launch<T> launch, int slots, const __grid_constant__ Peers peers) {                       \
        take_task(launch, slots, &peers);                                                                    \
    }
#else
#define KERNEL(NAME, T)                                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS, 1) NAME(const Launch<T> launch, int slots) {       \
        take_task(launch, slots, nullptr);                                                                   \
    }
#endif
#define KERNELS(name) KERNEL(name##_f32, float) KERNEL(name##_f64, double)
#define KERNELS_OF(name) KERNELS(name)

KERNELS_OF(SWEEP)

// Host and kernel agree on these.
constexpr int FRONT_BYTES_F32 = (int)FRONT_BYTES<float>, FRONT_BYTES_F64 = (int)FRONT_BYTES<double>;
constexpr int SLOT_BYTES = SLOT * (int)sizeof(double);
constexpr int KIND_FORWARDING = FORWARDING, KIND_INVERTING = INVERTING, KIND_CRITICAL_PATH = CRITICAL_PATH,
              KIND_UPDATE = UPDATE;
constexpr int MAX_RANK_BLOCKS = 1 << RANK_BLOCK_BITS, MAX_ROW_BLOCKS = 1 << ROW_BLOCK_BITS,
              MAX_RANGES = 1 << RANGE_BITS;
constexpr int PEERS_BYTES = sizeof(Peers);
constexpr int FLAGS_PER_PANEL = flags_of_sweep(1, 0, 0), FLAGS_PER_RANGE = flags_of_sweep(0, 1, 1);

// Byte offsets of the kernel's argument, the same for either type.
typedef Launch<double> Argument;
static_assert(sizeof(Launch<float>) == sizeof(Argument), "pointers are all that depends on the type");
constexpr int LAUNCH_BYTES = sizeof(Argument), AT_FROM = OFFSET(Argument, sweep.from),
              AT_TO = OFFSET(Argument, sweep.to), AT_L_STRIDE = OFFSET(Argument, sweep.l_stride),
              AT_V = OFFSET(Argument, sweep.v), AT_V_STRIDE = OFFSET(Argument, sweep.v_stride),
              AT_INVERSE = OFFSET(Argument, sweep.inverse), AT_REFINE = OFFSET(Argument, sweep.refine),
              AT_RECORDS = OFFSET(Argument, sweep.records), AT_PIVOTS = OFFSET(Argument, sweep.pivots),
              AT_STATUS = OFFSET(Argument, sweep.status), AT_SAVED_V = OFFSET(Argument, sweep.saved_v),
              AT_FLAGS = OFFSET(Argument, sweep.flags),
              AT_FLAGS_BEFORE = OFFSET(Argument, sweep.flags_before),
              AT_PEERS = OFFSET(Argument, sweep.peers), AT_N = OFFSET(Argument, sweep.n),
              AT_FIRST_COLUMN = OFFSET(Argument, sweep.first_column), AT_SIGN = OFFSET(Argument, sweep.sign),
              AT_PLUS = OFFSET(Argument, plus), AT_LAST_PLUS = OFFSET(Argument, last_plus),
              AT_FIRST_MINUS = OFFSET(Argument, first_minus), AT_RANGE_PANELS = OFFSET(Argument, range_panels),
              AT_V_SLOTS = OFFSET(Argument, v_slots),
              AT_TASKS = OFFSET(Argument, tasks), AT_NEXT_RECORDS = OFFSET(Argument, next_records),
              AT_NEXT_FLAGS = OFFSET(Argument, next_flags);

EXPORT_LAYOUT(SWEEP, PANEL_COLS, RANK_BLOCK, ROW_BLOCK_PANELS, THREADS, STAGED, RECORD, FRONT_BYTES_F32,
              FRONT_BYTES_F64, SLOT_BYTES, MIN_SLOTS, MAX_SLOTS, KIND_FORWARDING, KIND_INVERTING, KIND_CRITICAL_PATH,
              KIND_UPDATE, RANGE_SHIFT, RANK_BLOCK_SHIFT, KIND_SHIFT, MAX_RANK_BLOCKS, MAX_ROW_BLOCKS,
              MAX_RANGES, COMMON_FLAGS, FLAGS_PER_PANEL, FLAGS_PER_RANGE, LAUNCH_BYTES, AT_FROM, AT_TO,
              AT_L_STRIDE, AT_V, AT_V_STRIDE, AT_INVERSE, AT_REFINE, AT_RECORDS, AT_PIVOTS, AT_STATUS,
              AT_SAVED_V, AT_FLAGS, AT_FLAGS_BEFORE, AT_N, AT_FIRST_COLUMN, AT_SIGN, AT_PLUS, AT_LAST_PLUS, AT_FIRST_MINUS,
              AT_RANGE_PANELS, AT_V_SLOTS, AT_TASKS, AT_NEXT_RECORDS, AT_NEXT_FLAGS, FILLS_NEXT, AT_PEERS, MAX_PEERS, PEERS_BYTES)

EXPORT_THRESHOLDS(SWEEP, MAX_GRAM_PLUS, MAX_GRAM_MINUS, MAX_GRAM_PLUS_ONE_PANEL, MAX_GRAM_MINUS_ONE_PANEL,
                  MAX_P_SQUARE, MAX_INVERSE, MAX_INVERSE_ONE_PANEL, MAX_INVERSE_LOSS)
