// The scheduler of fibers: threads of a block, barriers, warp collectives. The protocol is in fibers.h.
#include "fibers.h"
#include "block_runner.h"
#include "stack.h"

namespace fake {

Block* block = nullptr;
Thread* thread = nullptr;

namespace {

Stacks stacks;
Stack* starting = nullptr; // the stack on which threads start
Registers scheduler;
const Launch* launch = nullptr;
const unsigned* start_order = nullptr;
unsigned barriers_left = 0; // before the block is suspended

/// Switches to the scheduler; returns when the thread is resumed.
void pause() {
    Thread* me = thread;
    switch_context(me->stack->here, scheduler);
}

/// Ends the launch: the scheduler resumes no thread.
void fail(const char* reason) {
    block->error = reason;
    pause();
}

void release_barrier() {
    block->at_barrier = 0;
    block->tally_at_release = block->tally;
    block->tally = 0;
    if (barriers_left > 0) --barriers_left;
    for (unsigned i = 0; i < block->count; ++i) {
        if (block->threads[i].state == State::AtBarrier) block->threads[i].state = State::Ready;
    }
}

/// Completes the collective at which `one` waits if all its lanes have arrived; lanes that have returned
/// are not waited for.
bool complete(const Thread& one) {
    Warp& warp = block->warps[one.linear / 32];
    const unsigned awaited = one.mask & ~warp.done;
    if (awaited & ~warp.waiting) return false; // as for all lanes of a warp but the last one
    Thread* lanes[32] = {};
    Thread* const threads = block->threads + (one.linear & ~31u);
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (!(awaited >> lane & 1)) continue;
        Thread& other = threads[lane];
        if (other.mask != one.mask) return false;
        if (other.kind != one.kind) {
            block->error = "lanes of one mask are at different warp collectives";
            return false;
        }
        lanes[lane] = &other;
    }
    one.combine(lanes);
    for (Thread* lane : lanes) {
        if (!lane) continue;
        lane->state = State::Ready;
        --block->at_warp;
    }
    warp.waiting &= ~awaited;
    return true;
}

/// A thread has returned: other threads may have waited only for it.
void finish(Thread& done) {
    done.state = State::Done;
    done.stack = nullptr;
    --block->alive;
    if (block->at_barrier && block->at_barrier == block->alive) release_barrier();
    Warp& warp = block->warps[done.linear / 32];
    warp.done |= 1u << (done.linear & 31);
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (warp.waiting >> lane & 1 && complete(block->threads[(done.linear & ~31u) + lane])) return;
    }
}

/// The main function of every stack: runs unstarted threads until none is left.
void stack_main() {
    Stack* const self = starting;
    for (;;) {
        while (block->unstarted && !block->error) {
            Thread& next = block->threads[start_order[--block->unstarted]];
            next.stack = self;
            next.state = State::Ready;
            thread = &next;
            launch->call(launch->arguments);
            finish(next);
        }
        stacks.give(self);
        switch_context(self->here, scheduler);
    }
}

} // namespace

unsigned barrier(bool predicate) {
    block->tally += predicate;
    thread->state = State::AtBarrier;
    if (++block->at_barrier == block->alive) {
        release_barrier();
    } else {
        pause();
    }
    return block->tally_at_release;
}

void collective(int kind, unsigned mask, Combine combine) {
    thread->kind = kind;
    thread->mask = mask;
    thread->combine = combine;
    thread->state = State::AtWarp;
    ++block->at_warp;
    const unsigned me = 1u << (thread->linear & 31);
    block->warps[thread->linear / 32].waiting |= me;
    if (!(mask & me)) return fail("a lane calls a collective whose mask leaves it out");
    if (!complete(*thread)) pause();
}

void nap() {
    thread->napping = true;
    pause();
}

Outcome run_block(Block& now, const Launch& of, const unsigned* order, unsigned barriers) {
    block = &now;
    barriers_left = barriers;
    launch = &of;
    start_order = order;
    while (now.alive && !now.error) {
        bool progress = false, met = false, napped = false;
        while (now.unstarted && !now.error) {
            progress = true;
            starting = stacks.take();
            enter(*starting, scheduler, stack_main);
        }
        for (unsigned i = 0; i < now.count && !now.error; ++i) {
            Thread& next = now.threads[order[i]];
            if (next.state != State::Ready) continue;
            next.napping = false;
            thread = &next;
            enter(*next.stack, scheduler, stack_main);
            if (next.state == State::AtWarp) {
                met = true; // a warp may wait together, repeatedly
            } else {
                (next.state == State::Ready && next.napping ? napped : progress) = true;
            }
        }
        if (now.error) continue;
        if (barriers_left == 0 && now.alive) return Outcome::Aside;
        if (progress) continue;
        if (napped) return Outcome::Aside;
        if (met) continue;
        now.error = "a barrier or warp collective is not reached by all its threads, and never will be";
    }
    if (now.error) abandon(now);
    return now.error ? Outcome::Failed : Outcome::Finished;
}

void abandon(Block& gone) {
    for (unsigned i = 0; i < gone.count; ++i) {
        if (gone.threads[i].stack) stacks.reset(gone.threads[i].stack);
        gone.threads[i].stack = nullptr;
    }
}

} // namespace fake
