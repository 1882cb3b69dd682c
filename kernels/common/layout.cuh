// How a module tells the host what both of them must agree on: sizes, layouts, limits and thresholds.
//
// A `.cu` file that has such facts ends in
//
//     EXPORT_LAYOUT(module, NAME, ANOTHER, ..)        integers
//     EXPORT_THRESHOLDS(module, NAME, ANOTHER, ..)    double-precision numbers
//
// with names of constants. That makes the values a global of the module, `module_layout` or `module_thresholds`, and
// the names, as they stand here, another, `module_layout_names` or `module_thresholds_names`. The host reads both when
// it has loaded the module (src/cuda/layout.rs): it takes what it can from there and compares the rest with constants
// of its own, by name, so that the order does not matter. No kernel reads these globals, but they stay in the PTX,
// where tests/it/ptx.rs makes them visible to the driver.
#pragma once

// The byte offset of a field, as a constant. NVRTC has neither offsetof nor another compiler's name for it.
#ifdef FAKE_CUDA
#define OFFSET(type, field) (int)__builtin_offsetof(type, field)
#else
#define OFFSET(type, field) (int)__INTADDR__(&((type*)0)->field)
#endif

#define EXPORT(name, type, ...)                                                                              \
    extern "C" __device__ const type name[] = {__VA_ARGS__};                                                 \
    extern "C" __device__ const char name##_names[] = #__VA_ARGS__;

// `module` may be a macro for the name.
#define EXPORT_LAYOUT_OF(module, ...) EXPORT(module##_layout, int, __VA_ARGS__)
#define EXPORT_LAYOUT(module, ...) EXPORT_LAYOUT_OF(module, __VA_ARGS__)
#define EXPORT_THRESHOLDS_OF(module, ...) EXPORT(module##_thresholds, double, __VA_ARGS__)
#define EXPORT_THRESHOLDS(module, ...) EXPORT_THRESHOLDS_OF(module, __VA_ARGS__)
