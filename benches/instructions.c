// A plugin of QEMU 6 or later that prints how many instructions a program executes. Declarations are those of qemu-plugin.h,
// which Debian does not package.
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;

extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
extern void qemu_plugin_register_vcpu_tb_trans_cb(
    qemu_plugin_id_t id, void (*translated)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb));
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int operation, void *at, uint64_t number);
extern void qemu_plugin_register_atexit_cb(
    qemu_plugin_id_t id, void (*ended)(qemu_plugin_id_t id, void *data), void *data);

// The oldest version of the interface, which later ones accept.
int qemu_plugin_version = 1;

static const int add = 0;
static uint64_t instructions;

// A block of instructions is executed as a whole.
static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(tb, add, &instructions, qemu_plugin_tb_n_insns(tb));
}

static void ended(qemu_plugin_id_t id, void *data)
{
    (void)id, (void)data;
    fprintf(stderr, "instructions: %" PRIu64 "\n", instructions);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int count, char **arguments)
{
    (void)info, (void)count, (void)arguments;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
