// The argument of a launch of sweep.cu, as the host passes it, and the sizes that all its parts share.
#pragma once
#include "common/panel.cuh"
#include "resident/peers.cuh"

// Columns of V in one sweep: 16, or 32 in sweep_wide.cu.
#ifndef RANK
#define RANK 16
#endif
constexpr int RANK_BLOCK = RANK;
constexpr int V_SIXTEENS = RANK_BLOCK / 16, V_EIGHTS = RANK_BLOCK / 8;  // of those columns
constexpr int ROW_BLOCK_PANELS = 2;                       // panels in a row block
constexpr int ROW_BLOCK = ROW_BLOCK_PANELS * PANEL_COLS;  // rows of L of a thread block
constexpr int WARP_ROWS = ROW_BLOCK / WARPS;              // of those, rows of a warp
constexpr int K_STEPS = PANEL_COLS / 4;                   // fours of columns in a sum over a panel's columns
constexpr int V_STRIDE =
    RANK_BLOCK + 4;  // from row to row of RANK_BLOCK columns in shared memory: no bank conflicts

// One sweep over L (n x n) with one rank block of V (n x RANK_BLOCK), all of one sign.
//
// Column-major, strides in scalars: entry (i, j), i >= j, of L lies at from + j * l_stride + i, and that of the new L
// at the same offset from `to`, which may be `from`. Columns of L begin at multiples of 16 bytes. Panels count from 0.
//
// In a launch over several devices the row blocks of a device lie where Peers says, and those of other devices are not
// accessed; the other memory is as large as on one device.
template <class T>
struct Sweep {
    const T* from;
    T* to;
    long long l_stride;
    const T* v;  // at any address, also in host memory
    long long v_stride;
    double* inverse;  // of each diagonal block, 64 x 64: common/inverse.cuh
    int* refine;      // for each diagonal block, whether products with its inverse need a correction (inverse.cuh)
    double* records;  // RECORD doubles a panel; all bits ones before the launch (payload.cuh)
    T* pivots;        // the new diagonal of L
    int* status;      // the smallest of 1 + the number of a column that breaks down
    double* saved_v;  // V at the beginning of panel ranges: task.cuh
    // Zeros before the launch: one counter of the tasks that have been taken (skipped by task.cuh), one flag for each
    // panel (record.cuh), and the flags of each row block (task.cuh).
    int* flags;
    int* flags_before;  // those of the previous sweep over the same L; null for the first
    long long n;
    long long first_column;  // number of the sweep's column 0 in the whole factor
    double sign;             // 1 for an update, -1 for a downdate
    const Peers* peers;      // the other devices of the launch, if there are any
};

// The argument of the kernel: its sweeps over the same L, one after the other. The first `plus` of them have a plus
// sign, the others a minus sign; `plus` is negative if the first with a minus sign was in an earlier launch. `sweep`
// describes the first sweep; the memory of the others follows its own, in order.
template <class T>
struct Launch {
    Sweep<T> sweep;
    int plus;
    // Columns of the last rank block with a plus sign and of the first with a minus sign; all others are full. The columns
    // that a rank block lacks are zeros, and not read.
    int last_plus, first_minus;
    int range_panels;       // panels of a panel range, even
    int v_slots;            // for V of a row block at the beginning of panel ranges
    const unsigned* tasks;  // words of task.cuh, in the order in which thread blocks take them
    // Records and flags of the next launch, of one sweep as this one, which inverting tasks behind it fill as they are
    // before a launch (FILLS_NEXT); or null.
    double* next_records;
    int* next_flags;
};
