// Triangular solves with a factor whose rows are on several devices. The rest is as in solve.cu.
#define DISTRIBUTED
#define SOLVE_MODULE solve_distributed
#include "resident/solve.cu"
