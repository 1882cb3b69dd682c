// Kernels by name, and their arguments.
//
// Protocol. The build generates `FAKE_KERNEL(name)` for every `extern "C" __global__ void name(..)` that it
// finds, and `FAKE_GLOBAL(name)` for every `extern "C" __device__ const type name[]`. A launch copies the
// arguments when it is queued, as the driver does, and calls the kernel with the copies. `FAKE_SHARED(from, to)` stands
// before them and names the two bytes between which the unit's static shared memory lies.
#pragma once
#include "fibers.h"
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace fake {

struct Kernel {
    const char* name;
    std::shared_ptr<void> (*copy)(void** parameters);
    void (*call)(void* arguments);
    Bytes (*shared)();
    const Kernel* next;
};

/// The last one registered; a list through `next`.
extern const Kernel* last_kernel;

/// A variable of a module that the driver finds by name.
struct Global {
    const char* name;
    const void* at;
    size_t bytes;
    const Global* next;
};

/// The last one registered; a list through `next`.
extern const Global* last_global;

struct GlobalRegistration {
    Global global;
    explicit GlobalRegistration(Global given) : global(given) {
        global.next = last_global;
        last_global = &global;
    }
};

template <auto Function> struct Entry;

template <class... A, void (*Function)(A...)> struct Entry<Function> {
    using Arguments = std::tuple<std::decay_t<A>...>;

    template <size_t... I>
    static std::shared_ptr<void> copy_each(void** parameters, std::index_sequence<I...>) {
        (void)parameters; // a kernel may take none
        return std::make_shared<Arguments>(*static_cast<std::decay_t<A>*>(parameters[I])...);
    }
    static std::shared_ptr<void> copy(void** parameters) {
        return copy_each(parameters, std::index_sequence_for<A...>());
    }
    static void call(void* arguments) { std::apply(Function, *static_cast<Arguments*>(arguments)); }
};

struct Registration {
    Kernel kernel;
    explicit Registration(Kernel given) : kernel(given) {
        kernel.next = last_kernel;
        last_kernel = &kernel;
    }
};

} // namespace fake

#define FAKE_SHARED(from, to)                                                                                \
    extern __thread unsigned char fake_shared_##from, fake_shared_##to;                                      \
    static fake::Bytes fake_shared() {                                                                       \
        return {&fake_shared_##from, size_t(&fake_shared_##to - &fake_shared_##from)};                       \
    }
#define FAKE_KERNEL(name)                                                                                    \
    static const fake::Registration fake_registration_##name(                                                \
        fake::Kernel{#name, fake::Entry<&name>::copy, fake::Entry<&name>::call, fake_shared, nullptr});
#define FAKE_GLOBAL(name)                                                                                    \
    static const fake::GlobalRegistration fake_registration_##name(                                          \
        fake::Global{#name, &name, sizeof name, nullptr});
