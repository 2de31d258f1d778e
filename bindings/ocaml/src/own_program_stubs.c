/* XDP programs of the caller's own. */
#include "handles.h"

#define Own_program(v) (*(strata_xdp_own_program**)Data_custom_val(v))

static void finalize_own_program(value handle) {
  strata_xdp_own_program_close(Own_program(handle));
}

static struct custom_operations own_program_operations = {
    .identifier = "strata.xsk.own_program",
    .finalize = finalize_own_program,
    .compare = custom_compare_default,
    .hash = custom_hash_default,
    .serialize = custom_serialize_default,
    .deserialize = custom_deserialize_default,
    .compare_ext = custom_compare_ext_default,
    .fixed_length = custom_fixed_length_default,
};

value xsk_own_program_blank(value unit) {
  const value made =
      caml_alloc_custom(&own_program_operations, sizeof(strata_xdp_own_program*), 1, 100);
  (void)unit;
  Own_program(made) = NULL;
  return made;
}

value xsk_own_program_attach(value blank, value interface_name, value program, value mode) {
  CAMLparam1(blank);
  strata_xdp_own_program* attached = NULL;
  char* const name = caml_stat_strdup(String_val(interface_name));
  const int fd = Int_val(program);
  const int wanted = Int_val(mode);
  caml_enter_blocking_section();
  const int code = strata_xdp_own_program_attach(name, fd, wanted, &attached);
  caml_leave_blocking_section();
  caml_stat_free(name);
  if (code == 0) Own_program(blank) = attached;
  CAMLreturn(Val_int(code));
}

value xsk_own_program_close(value handle) {
  strata_xdp_own_program* const which = Own_program(handle);
  Own_program(handle) = NULL;
  caml_enter_blocking_section();
  strata_xdp_own_program_close(which);
  caml_leave_blocking_section();
  return Val_unit;
}

value xsk_own_program_mode(value handle) {
  if (Own_program(handle) == NULL) return Val_int(XSK_CLOSED);
  return Val_int(strata_xdp_own_program_mode(Own_program(handle)));
}
