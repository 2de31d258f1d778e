/* What a loader does, by bpf(2): an XSKMAP, and a program that redirects every frame to its entry
 * 5. Each returns a descriptor, or a negative errno. */
#define _GNU_SOURCE
#include <caml/mlvalues.h>
#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static value made(int command, union bpf_attr* of) {
  const long fd = syscall(SYS_bpf, command, of, sizeof *of);
  return Val_long(fd < 0 ? -errno : fd);
}

value test_bpf_map(value unit) {
  union bpf_attr of;
  (void)unit;
  memset(&of, 0, sizeof of);
  of.map_type = BPF_MAP_TYPE_XSKMAP;
  of.key_size = of.value_size = 4;
  of.max_entries = 8;
  return made(BPF_MAP_CREATE, &of);
}

value test_bpf_program(value map) {
  const struct bpf_insn code[] = {
      {.code = BPF_LD | BPF_DW | BPF_IMM,
       .dst_reg = 1,
       .src_reg = BPF_PSEUDO_MAP_FD,
       .imm = Int_val(map)},
      {.code = 0},
      {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 2, .imm = 5},
      {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = XDP_PASS},
      {.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect_map},
      {.code = BPF_JMP | BPF_EXIT},
  };
  union bpf_attr of;
  memset(&of, 0, sizeof of);
  of.prog_type = BPF_PROG_TYPE_XDP;
  of.insn_cnt = sizeof code / sizeof *code;
  of.insns = (unsigned long)code;
  of.license = (unsigned long)"GPL";
  return made(BPF_PROG_LOAD, &of);
}
