/* Counts the instructions that a program executes under qemu-user: an extension
 * of QEMU (qemu/qemu-plugin.h, interface version 1, from which these
 * declarations are; Debian ships no header). Prints one line at the end.
 *
 * usage: cc -shared -fPIC -o instructions.so instructions.c
 *        qemu-aarch64 -plugin ./instructions.so -d plugin -D count.txt PROGRAM
 *
 * The counter is one for all threads and added to without a lock: exact for
 * programs whose other threads sleep.
 */
#include <inttypes.h>
#include <stdio.h>

struct qemu_plugin_tb;
typedef uint64_t plugin_id;
enum { ADD_U64 = 0 };

extern size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
extern void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block, int operation,
                                                     void *counter, uint64_t addend);
extern void qemu_plugin_register_vcpu_tb_trans_cb(
    plugin_id id, void (*translated)(plugin_id, struct qemu_plugin_tb *));
extern void qemu_plugin_register_atexit_cb(plugin_id id, void (*ended)(plugin_id, void *),
                                           void *data);
extern void qemu_plugin_outs(const char *text);

int qemu_plugin_version = 1;

static uint64_t executed;

static void translated(plugin_id id, struct qemu_plugin_tb *block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_U64, &executed,
                                           qemu_plugin_tb_n_insns(block));
}

static void ended(plugin_id id, void *data) {
  (void)id;
  (void)data;
  char line[64];
  snprintf(line, sizeof line, "instructions %" PRIu64 "\n", executed);
  qemu_plugin_outs(line);
}

int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv) {
  (void)info;
  (void)argc;
  (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, ended, NULL);
  return 0;
}
