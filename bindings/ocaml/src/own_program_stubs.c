/* XDP programs of the caller's own. */
#include "handles.h"

#define Own_program(v) (*(strata_xdp_own_program**)Data_custom_val(v))

XSK_HANDLE(own_program, Own_program, strata_xdp_own_program_close)
XSK_BLANK(own_program, Own_program)

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

XSK_QUESTION(xsk_own_program_mode, Own_program, strata_xdp_own_program_mode(Own_program(handle)))
