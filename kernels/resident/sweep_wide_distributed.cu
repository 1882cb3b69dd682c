// Sweeps over the rows of several devices with rank blocks of 32 columns. The rest is as in sweep_wide.cu.
#define DISTRIBUTED
#define RANK 32
#define SWEEP sweep_wide_distributed
#include "resident/sweep.cu"
