// The interface of the scheduler of fibers to the grid.
#pragma once
#include "fibers.h"

namespace fake {

enum class Outcome { Finished, Aside, Failed };

/// Runs threads of `now` until all have returned, or some nap and no other makes progress, or the block has
/// met `barriers` barriers, or the launch has failed. `order` is a permutation of the threads.
Outcome run_block(Block& now, const Launch& of, const unsigned* order, unsigned barriers);

/// Releases the stacks of a block that will not be completed.
void abandon(Block& gone);

} // namespace fake
