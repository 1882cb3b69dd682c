// The fake driver: a libcuda.so.1 that runs on the CPU. Shared declarations of its files.
//
// Protocol. Device memory is host memory. Every stream is a queue. Queues run only during a synchronization
// or a query, in a seeded random interleaving that respects the order within a stream and the waits for
// events, and nothing else. An unfounded assumption of a program therefore gives wrong results for some
// seed: a missing wait, a host buffer reused too early, a result read before its stream was synchronized.
//
// One lock protects all state; kernels run under it, on the thread that synchronizes. Launches of several streams and
// devices run at the same time: while the blocks of one wait, others have a turn.
//
// An error of the device (a failed launch, a copy to freed memory) is sticky: from then on the context runs
// nothing but releases of memory and every call in it returns that error, until it is destroyed (all its
// retains released) or the test resets the driver. A call that the test makes fail does nothing and has no
// other effect: queued work stays. An unsupported call prints that on stderr and returns
// CUDA_ERROR_NOT_SUPPORTED.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>

#define API extern "C" __attribute__((visibility("default"))) Result

namespace fake {

using Result = int;
using DevicePointer = uint64_t;

enum : Result {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    PEER_ACCESS_UNSUPPORTED = 217,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    PEER_ACCESS_ALREADY_ENABLED = 704,
    HOST_MEMORY_ALREADY_REGISTERED = 712,
    HOST_MEMORY_NOT_REGISTERED = 713,
    LAUNCH_FAILED = 719,
    COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    NOT_SUPPORTED = 801,
};

constexpr int MAX_DEVICES = 16;
constexpr int DEVICES = 4; // where the test sets no number
constexpr int MULTIPROCESSORS = 20, BLOCKS_PER_MULTIPROCESSOR = 2, MAX_THREADS_PER_BLOCK = 1024;
constexpr int SHARED_BYTES = 48 << 10, SHARED_BYTES_OPT_IN = 227 << 10;
constexpr size_t DEVICE_BYTES = size_t(8) << 30; // where the test sets no cap

struct Event {
    uint64_t recorded = 0, done = 0; // records queued and records run
};

struct Operation {
    std::function<bool()> run;   // returns whether it is done, and is called again otherwise; null for a wait
    std::shared_ptr<Event> wait; // until its record number `generation` has run
    uint64_t generation = 0;
    bool always = false; // also after the context has failed
};

struct Context;

struct Stream {
    Context* context;
    std::deque<Operation> queue;
    bool destroyed = false; // freed when its queue is empty, because the work in it still runs
};

struct Context {
    int device = 0, references = 0;
    Result sticky = SUCCESS;
    Stream null_stream{this, {}};
    bool accesses[16] = {}; // the memory of the other devices
};

/// The counts that tests read, with the layout of `Stats` in mod.rs.
struct Stats {
    uint64_t live_bytes, peak_bytes, live_allocations, launches, copies, bytes_up, bytes_down, memsets;
    uint64_t device_synchronizations, stream_synchronizations, event_synchronizations, pinned_bytes;
    uint64_t calls;
};

struct Driver {
    std::recursive_mutex lock;
    std::minstd_rand random{1};
    int devices = DEVICES, version = 13000;
    size_t memory_cap = 0;  // 0: DEVICE_BYTES
    int shared_cap = 0;     // 0: SHARED_BYTES_OPT_IN
    bool peers = true;      // whether a device can access the memory of another
    uint64_t fail_after = 0; // the operation that fails, counted down; 0: none
    uint64_t calls_before = 0, calls_failing = 0; // calls that succeed first, and calls after them that fail
    Result failing = SUCCESS;                     // the error of those
    Stats stats{};
    Context contexts[MAX_DEVICES];
    std::map<Stream*, std::unique_ptr<Stream>> streams;
    std::map<void*, std::shared_ptr<Event>> events;

    size_t memory_bytes() const { return memory_cap ? memory_cap : DEVICE_BYTES; }
    int shared_bytes() const { return shared_cap ? shared_cap : SHARED_BYTES_OPT_IN; }
};

extern Driver driver;

using Lock = std::lock_guard<std::recursive_mutex>;

/// Counts a call. Returns the error that it must return instead of doing anything, if the test makes it
/// fail. Every call whose failure a program can see begins with it.
Result injected();
#define MAY_FAIL                                                                                             \
    if (const fake::Result failed = fake::injected()) return failed

/// The calling thread's context; null where it set none.
Context* current_context();

/// Prints a program's mistake on stderr.
template <class... A> void complain(const char* format, A... values) {
    std::fprintf(stderr, "fake CUDA: ");
    std::fprintf(stderr, format, values...);
    std::fprintf(stderr, "\n");
}

// module.cpp

/// Whether these are bytes of a module's global, from its first on.
bool is_global(const void* at, size_t bytes);

// queue.cpp

/// The stream of a handle; null, the legacy and the per-thread handle are the context's own stream.
Stream* find_stream(void* handle);

/// Queues `run`. Returns the sticky error of the context, if it has one.
Result submit(Stream& stream, std::function<void()> run);

/// Queues a copy or a fill: of the operations that `fake_cuda_fail_at` counts.
Result submit_counted(Stream& stream, std::function<void()> run);

/// Queues a launch, which is one of them as well, and runs in parts until `run` returns true.
Result submit_launch(Stream& stream, std::function<bool()> run);

/// Queues a release of memory, which runs even after the context has failed.
Result submit_release(Stream& stream, std::function<void()> run);

/// Runs random operations until `finished`. Returns the context's sticky error.
Result run_until(Context& context, const std::function<bool()>& finished);

Result synchronize_stream(Stream& stream);

/// Runs all work in the streams of `context`.
Result synchronize_context(Context& context);

/// Drops all work in the streams of `context`, except releases of memory, which are run.
void discard_queues(Context& context);

// memory.cpp

/// Whether the program may name these device bytes in a call: allocated, and not released by an earlier call.
bool is_named(const void* at, size_t bytes);

/// Whether these device bytes can be used by an operation that runs now.
bool is_live(const void* at, size_t bytes);

/// Whether the host bytes are page-locked: copies of them run when their stream does.
bool is_pinned(const void* at, size_t bytes);

/// Whether no kernel has written outside the allocations; prints a message otherwise.
bool guards_are_whole(const char* kernel);

/// Frees all memory of `context`.
void free_all(Context& context);

} // namespace fake
