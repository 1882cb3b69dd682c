// Sweeps over the rows of several devices. The rest is as in sweep.cu.
#define DISTRIBUTED
#define SWEEP sweep_distributed
#include "resident/sweep.cu"
