// Runs the blocks of a grid one after another, in a seeded random order, and lets other streams run while all of them
// wait. The protocol is in fibers.h.
//
// Static shared memory. `__shared__` makes a variable thread-local, and no other variable of a kernel's unit is
// thread-local: a part of the library's thread-local segment is the static shared memory of all kernels of the unit. It
// is filled with NaN before every launch, and saved and restored for a suspended block. A block finds the contents that
// the previous block has left.
#include "block_runner.h"
#include <algorithm>
#include <climits>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace fake {

namespace {

constexpr int GARBAGE = 0xFF;
constexpr unsigned MAX_ROUNDS = 100000; // of blocks that only nap, before they are reported to wait forever
constexpr unsigned MAX_ASIDE = 8;       // blocks suspended although they could continue
constexpr unsigned MANY_ASIDE = 32;     // from this number on, they continue before others begin
constexpr unsigned ROUNDS_AT_ONCE = 8;  // before other streams have a turn

/// A block with all its state.
struct Resident {
    Block block{};
    std::vector<Thread> threads;
    std::vector<Warp> warps;
    std::vector<unsigned char> dynamic_shared, static_shared_aside;

    explicit Resident(const Launch& launch)
        : threads(launch.block.x * launch.block.y * launch.block.z),
          warps((threads.size() + 31) / 32),
          dynamic_shared(launch.dynamic_shared + 128) {
        block.size = launch.block;
        block.grid = launch.grid;
        block.threads = threads.data();
        block.warps = warps.data();
        block.count = static_cast<unsigned>(threads.size());
        auto at = reinterpret_cast<uintptr_t>(dynamic_shared.data());
        block.dynamic_shared = reinterpret_cast<unsigned char*>((at + 127) & ~uintptr_t(127));
        std::fill(dynamic_shared.begin(), dynamic_shared.end(), GARBAGE);
    }

    void become(unsigned number) {
        const dim3 size = block.size, grid = block.grid;
        block.index = {number % grid.x, number / grid.x % grid.y, number / grid.x / grid.y};
        block.alive = block.unstarted = block.count;
        block.at_barrier = block.tally = block.at_warp = 0;
        block.error = nullptr;
        std::fill(warps.begin(), warps.end(), Warp{0, 0});
        if (block.count % 32) warps.back().done = ~0u << block.count % 32;
        for (unsigned i = 0; i < block.count; ++i) {
            Thread& thread = threads[i];
            thread.index = {i % size.x, i / size.x % size.y, i / size.x / size.y};
            thread.linear = i;
            thread.state = State::Unstarted;
            thread.stack = nullptr;
            thread.copies.clear();
            thread.committed = thread.asked = 0;
        }
    }
};

std::vector<unsigned> permutation(unsigned count, std::minstd_rand& random) {
    std::vector<unsigned> order(count);
    for (unsigned i = 0; i < count; ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    return order;
}

} // namespace

struct Grid {
    Launch launch;
    std::minstd_rand random;
    std::vector<unsigned> blocks, threads; // in the order in which they begin
    size_t begun = 0;                      // of the blocks
    unsigned rounds = 0;
    std::unique_ptr<Resident> idle;
    std::vector<std::unique_ptr<Resident>> aside;
    Bytes shared = launch.shared();

    explicit Grid(const Launch& launch)
        : launch(launch),
          random(launch.seed),
          blocks(permutation(launch.grid.x * launch.grid.y * launch.grid.z, random)),
          threads(permutation(launch.block.x * launch.block.y * launch.block.z, random)) {}

    ~Grid() {
        for (auto& resident : aside) abandon(resident->block);
    }

    void put_aside(std::unique_ptr<Resident>& resident) {
        resident->static_shared_aside.assign(shared.begin, shared.begin + shared.count);
        aside.push_back(std::move(resident));
    }

    /// The number of barriers that a block may meet before it is suspended: unlimited for most blocks.
    unsigned barriers() {
        return aside.size() < MAX_ASIDE && random() % 4 == 0 ? 1 + unsigned(random() % 32) : UINT_MAX;
    }

    /// Begins a block. Returns null, or the reason of its failure.
    const char* begin() {
        if (begun == 0) std::memset(shared.begin, GARBAGE, shared.count);
        auto now = idle ? std::move(idle) : std::make_unique<Resident>(launch);
        now->become(blocks[begun++]);
        const Outcome outcome = run_block(now->block, launch, threads.data(), barriers());
        if (outcome == Outcome::Failed) return now->block.error;
        if (outcome == Outcome::Aside) {
            put_aside(now);
        } else {
            idle = std::move(now);
        }
        return nullptr;
    }

    /// Resumes suspended blocks, each until it has to wait again. Returns null, or the reason of a failure.
    const char* resume() {
        if (++rounds == MAX_ROUNDS) return "blocks wait for each other for ever";
        auto waiting = std::move(aside);
        aside.clear();
        for (size_t i = 0; i < waiting.size(); ++i) {
            auto& resident = waiting[i];
            const auto& kept = resident->static_shared_aside;
            std::copy(kept.begin(), kept.end(), shared.begin);
            const Outcome outcome = run_block(resident->block, launch, threads.data(), UINT_MAX);
            if (outcome == Outcome::Failed) {
                for (size_t j = i + 1; j < waiting.size(); ++j) abandon(waiting[j]->block);
                return resident->block.error;
            }
            if (outcome == Outcome::Aside) put_aside(resident);
        }
        return nullptr;
    }
};

namespace {

/// Runs all blocks: their fibers hold addresses of the static shared memory, which is that of one thread.
class KernelThread {
    std::mutex lock;
    std::condition_variable changed;
    const std::function<void()>* work = nullptr;

    void loop() {
        std::unique_lock<std::mutex> held(lock);
        for (;;) {
            changed.wait(held, [&] { return work; });
            (*work)();
            work = nullptr;
            changed.notify_all();
        }
    }

public:
    KernelThread() { std::thread(&KernelThread::loop, this).detach(); }

    /// One caller at a time: the driver's lock is held.
    void run(const std::function<void()>& some) {
        std::unique_lock<std::mutex> held(lock);
        work = &some;
        changed.notify_all();
        changed.wait(held, [&] { return !work; });
    }
};

void on_kernel_thread(const std::function<void()>& work) {
    static KernelThread* const thread = new KernelThread; // never destroyed: it waits until the process ends
    thread->run(work);
}

Progress run_part(Grid& grid, const char** error) {
    for (unsigned rounds = 0; rounds < ROUNDS_AT_ONCE;) {
        const bool all_begun = grid.begun == grid.blocks.size();
        if (all_begun && grid.aside.empty()) return Progress::Finished;
        if (!all_begun && grid.aside.size() < MANY_ASIDE) {
            *error = grid.begin();
        } else {
            *error = grid.resume();
            ++rounds;
        }
        if (*error) return Progress::Failed;
    }
    return Progress::Waiting;
}

} // namespace

std::shared_ptr<Grid> begin_grid(const Launch& launch) {
    std::shared_ptr<Grid> grid;
    on_kernel_thread([&] { grid = std::make_shared<Grid>(launch); });
    return grid;
}

Progress run_grid(Grid& grid, const char** error) {
    Progress progress;
    on_kernel_thread([&] { progress = run_part(grid, error); });
    return progress;
}

} // namespace fake
