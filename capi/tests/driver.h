/* The driver that is loaded as libcuda.so.1, for programs with arrays in GPU memory. Includes check.h. */
#ifndef DRIVER_H
#define DRIVER_H

#include "check.h"
#include <dlfcn.h>
#include <stdint.h>

static void *driver;

static void *named(const char *name) {
    void *found = dlsym(driver, name);
    CHECK(found != NULL);
    return found;
}

/* The primary context of the first GPU. */
static void *context;

static void load_driver(void) {
    int (*init)(unsigned), (*retain)(void **, int);
    void *found;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(driver != NULL);
    found = named("cuInit");
    memcpy(&init, &found, sizeof found);
    found = named("cuDevicePrimaryCtxRetain");
    memcpy(&retain, &found, sizeof found);
    CHECK(init(0) == 0 && retain(&context, 0) == 0);
}

/* Makes a context current, or none. */
static void turn_to(void *wanted) {
    int (*set)(void *);
    void *found = named("cuCtxSetCurrent");
    memcpy(&set, &found, sizeof found);
    CHECK(set(wanted) == 0);
}

/* The number of GPUs. */
static int gpus(void) {
    int (*count)(int *);
    void *found = named("cuDeviceGetCount");
    int gpus = 0;
    memcpy(&count, &found, sizeof found);
    CHECK(count(&gpus) == 0 && gpus > 0);
    return gpus;
}

/* Device memory with these bytes. */
static uint64_t on_device(const void *from, size_t bytes) {
    int (*allocate)(uint64_t *, size_t);
    int (*copy)(uint64_t, const void *, size_t);
    void *found = named("cuMemAlloc_v2");
    uint64_t address = 0;
    memcpy(&allocate, &found, sizeof found);
    found = named("cuMemcpyHtoD_v2");
    memcpy(&copy, &found, sizeof found);
    turn_to(context);
    CHECK(allocate(&address, bytes) == 0 && copy(address, from, bytes) == 0);
    return address;
}

static void to_host(void *to, uint64_t address, size_t bytes) {
    int (*copy)(void *, uint64_t, size_t);
    void *found = named("cuMemcpyDtoH_v2");
    memcpy(&copy, &found, sizeof found);
    turn_to(context);
    CHECK(copy(to, address, bytes) == 0);
}

#endif
