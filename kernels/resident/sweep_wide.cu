// Sweeps of the resident engine with rank blocks of 32 columns: each has twice the columns of V for the same reads and
// writes of L, and needs shared memory for three records of 39 KiB. The rest is as in sweep.cu.
#define RANK 32
#define SWEEP sweep_wide
#include "resident/sweep.cu"
