/* XDP programs and their routes. */
#include "handles.h"

#define Program(v) (*(strata_xdp_program**)Data_custom_val(v))
#define Route(v) (*(strata_xdp_route**)Data_custom_val(v))

XSK_HANDLE(program, Program, strata_xdp_program_close)
XSK_BLANK(program, Program)
XSK_HANDLE(route, Route, strata_xdp_route_close)
XSK_BLANK(route, Route)

/* The kernel verifies the program, and waits for the lock of its network configuration. */
value xsk_program_attach(value blank, value interface_name, value mode) {
  CAMLparam1(blank);
  strata_xdp_program* attached = NULL;
  char* const name = caml_stat_strdup(String_val(interface_name));
  const int wanted = Int_val(mode);
  caml_enter_blocking_section();
  const int code = strata_xdp_program_attach(name, wanted, &attached);
  caml_leave_blocking_section();
  caml_stat_free(name);
  if (code == 0) Program(blank) = attached;
  CAMLreturn(Val_int(code));
}

value xsk_program_close(value handle) {
  strata_xdp_program* const which = Program(handle);
  Program(handle) = NULL;
  caml_enter_blocking_section();
  strata_xdp_program_close(which);
  caml_leave_blocking_section();
  return Val_unit;
}

XSK_QUESTION(xsk_program_is_native, Program, strata_xdp_program_is_native(Program(handle)))

strata_xdp_filter xsk_filter(value ints, value mac) {
  strata_xdp_filter filter;
  strata_xdp_filter_defaults(&filter);
  filter.ethertype = (int32_t)Long_val(Field(ints, 0));
  filter.vlan_id = (int32_t)Long_val(Field(ints, 1));
  filter.udp_port = (int32_t)Long_val(Field(ints, 2));
  if (caml_string_length(mac) == 6) filter.destination = (const uint8_t*)String_val(mac);
  return filter;
}

value xsk_route_add(value blank, value program, value socket, value ints, value mac) {
  if (Program(program) == NULL || Socket_body(socket) == NULL) return Val_int(XSK_CLOSED);
  const strata_xdp_filter filter = xsk_filter(ints, mac);
  strata_xdp_route* added = NULL;
  const int code =
      strata_xdp_route_add(Program(program), &filter, Socket_body(socket)->handle, &added);
  if (code == 0) Route(blank) = added;
  return Val_int(code);
}

/* The last route of a program may take it off its interface. */
value xsk_route_close(value handle) {
  strata_xdp_route* const which = Route(handle);
  Route(handle) = NULL;
  caml_enter_blocking_section();
  strata_xdp_route_close(which);
  caml_leave_blocking_section();
  return Val_unit;
}
