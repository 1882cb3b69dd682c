// Stacks of fibers, and the switch between two of them.
//
// Protocol. The compiler's `setjmp` and `longjmp` switch without a system call, in half the time of the C
// library's; `makecontext` is needed once a stack, to enter it. A stack runs `main` forever: `main` returns control
// with `switch_context` and is entered again by the next `enter`. A stack abandoned in the middle of a thread (its
// launch failed) is `reset` and starts again.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <ucontext.h>
#include <vector>

namespace fake {

/// What the compiler needs to continue in a function.
using Registers = void* [5];

struct Stack {
    static constexpr size_t BYTES = 128 * 1024; // untouched pages cost nothing
    static constexpr size_t GUARD = 4096;       // overflow is a fault, not corruption
    static constexpr size_t COLORS = 64, SHIFT = 320; // spreads tops over the cache sets

    Registers here;
    char* memory;
    size_t usable_bytes;
    bool begun = false;

    Stack() {
        const int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
        void* at = mmap(nullptr, BYTES, PROT_READ | PROT_WRITE, kind, -1, 0);
        if (at == MAP_FAILED || mprotect(at, GUARD, PROT_NONE) != 0) {
            std::perror("fake CUDA: no memory for a fiber's stack");
            std::abort();
        }
        static size_t created = 0;
        memory = static_cast<char*>(at);
        usable_bytes = BYTES - created++ % COLORS * SHIFT;
    }
};

/// A function of its own, because none may have both builtins.
[[noreturn, gnu::noinline]] inline void continue_in(Registers& to) { __builtin_longjmp(to, 1); }

/// Saves the running context in `from` and continues in `to`; returns on a switch back to `from`.
[[gnu::noinline]] inline void switch_context(Registers& from, Registers& to) {
    if (__builtin_setjmp(from) == 0) continue_in(to);
}

/// Enters `stack` for the first time.
[[gnu::noinline]] inline void begin(Stack& stack, Registers& scheduler, void (*main)()) {
    stack.begun = true;
    ucontext_t first;
    getcontext(&first);
    first.uc_stack.ss_sp = stack.memory;
    first.uc_stack.ss_size = stack.usable_bytes;
    first.uc_link = nullptr;
    makecontext(&first, main, 0);
    if (__builtin_setjmp(scheduler) == 0) setcontext(&first);
}

/// Runs `stack` until it leaves to `scheduler`.
inline void enter(Stack& stack, Registers& scheduler, void (*main)()) {
    if (stack.begun) return switch_context(scheduler, stack.here);
    begin(stack, scheduler, main);
}

/// Stacks that no thread owns; they live as long as the process.
struct Stacks {
    std::vector<Stack*> idle;

    Stack* take() {
        if (idle.empty()) return new Stack;
        Stack* stack = idle.back();
        idle.pop_back();
        return stack;
    }
    void give(Stack* stack) { idle.push_back(stack); }
    void reset(Stack* stack) {
        stack->begun = false;
        give(stack);
    }
};

} // namespace fake
