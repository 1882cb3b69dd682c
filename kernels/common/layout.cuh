// Exports the constants on which a module and the host must agree: sizes, layouts, limits and thresholds.
//
// A `.cu` file that has such constants ends in
//
//     EXPORT_LAYOUT(module, NAME, ANOTHER, ..)        integers
//     EXPORT_THRESHOLDS(module, NAME, ANOTHER, ..)    double-precision numbers
//
// with names of constants. The values become a global of the module, `module_layout` or `module_thresholds`. The
// names, as written here, become another, `module_layout_names` or `module_thresholds_names`. The host reads both
// after it has loaded the module (src/cuda/layout.rs). It takes what it can from there and compares the rest with its
// own constants, by name, so the order does not matter. No kernel reads these globals, but they stay in the PTX, where
// tests/it/ptx.rs makes them visible to the driver.
#pragma once

// The byte offset of a field, as a constant. NVRTC has neither offsetof nor the builtin of other compilers.
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
