// What the grid asks of the scheduler of fibers.
#pragma once
#include "fibers.h"

namespace fake {

enum class Outcome { Finished, Aside, Failed };

/// Runs threads of `now` until all have returned, or some nap and no other gets on, or it has met `barriers`
/// of them, or the launch has failed. `order` is a permutation of the threads.
Outcome run_block(Block& now, const Launch& of, const unsigned* order, unsigned barriers);

/// Takes back the stacks of a block that will not be run to its end.
void abandon(Block& gone);

} // namespace fake
