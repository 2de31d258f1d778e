/* Hybrids of TCP and Ethernet, and their listeners. They wait in whatever is called, so each call
 * has the runtime lock given up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "devices.h"

static void close_listener(void* which) { strata_hybrid_listener_close(which); }
static int fd_of_listener(const void* which) { return strata_hybrid_listener_fd(which); }
static void close_hybrid(void* which) { strata_hybrid_close(which); }
static int fd_of_hybrid(const void* which) { return strata_hybrid_data_fd(which); }

value xsk_hybrid_defaults(value to) {
  strata_hybrid_options options;
  strata_hybrid_defaults(&options);
  Field(to, 0) = Val_long(options.tcp_port);
  Field(to, 1) = Val_long(options.ethertype);
  Field(to, 2) = Val_long(options.vlan_id);
  Field(to, 3) = Val_long(options.priority);
  Field(to, 4) = Val_long(options.timeout_ms);
  Field(to, 5) = Val_long(options.greeting_timeout_ms);
  Field(to, 6) = Val_long(options.peer_timeout_ms);
  return Val_unit;
}

static strata_hybrid_options options_of(value ints) {
  strata_hybrid_options options;
  strata_hybrid_defaults(&options);
  options.tcp_port = (uint16_t)Long_val(Field(ints, 0));
  options.ethertype = (uint16_t)Long_val(Field(ints, 1));
  options.vlan_id = (int32_t)Long_val(Field(ints, 2));
  options.priority = (uint8_t)Long_val(Field(ints, 3));
  options.timeout_ms = (uint32_t)Long_val(Field(ints, 4));
  options.greeting_timeout_ms = (uint32_t)Long_val(Field(ints, 5));
  options.peer_timeout_ms = (uint32_t)Long_val(Field(ints, 6));
  return options;
}

/* An empty `address` is all. */
value xsk_hybrid_listen(value blank, value interface_name, value address, value ints) {
  strata_hybrid_options options = options_of(ints);
  strata_hybrid_listener* opened = NULL;
  if (caml_string_length(address) != 0) options.listen_address = String_val(address);
  const int code = strata_hybrid_listen(String_val(interface_name), &options, &opened);
  return Val_int(code != 0 ? code
                           : xsk_device_adopt(blank, opened, close_listener, fd_of_listener));
}

value xsk_hybrid_port(value listener) {
  if (Device_body(listener) == NULL) return Val_int(XSK_CLOSED);
  return Val_int(strata_hybrid_listener_port(Device_body(listener)->handle));
}

value xsk_hybrid_accept(value blank, value listener) {
  CAMLparam2(blank, listener);
  int code = 0;
  strata_hybrid* opened = NULL;
  struct device_body* const body = xsk_device_begin(listener, &code);
  if (body == NULL) CAMLreturn(Val_int(code));
  caml_enter_blocking_section();
  code = strata_hybrid_accept(body->handle, &opened);
  caml_leave_blocking_section();
  code = xsk_device_end(body, code);
  if (code == 0)
    code = xsk_device_adopt(blank, opened, close_hybrid, fd_of_hybrid);
  else if (opened != NULL)
    strata_hybrid_close(opened);
  CAMLreturn(Val_int(code));
}

value xsk_hybrid_connect(value blank, value interface_name, value host, value ints) {
  CAMLparam1(blank);
  const strata_hybrid_options options = options_of(ints);
  strata_hybrid* opened = NULL;
  char* const name = caml_stat_strdup(String_val(interface_name));
  char* const address = caml_stat_strdup(String_val(host));
  caml_enter_blocking_section();
  int code = strata_hybrid_connect(name, address, &options, &opened);
  caml_leave_blocking_section();
  caml_stat_free(name);
  caml_stat_free(address);
  if (code == 0) code = xsk_device_adopt(blank, opened, close_hybrid, fd_of_hybrid);
  CAMLreturn(Val_int(code));
}

value xsk_hybrid_send(value handle, value message) {
  CAMLparam2(handle, message);
  int code = 0;
  struct device_body* const body = xsk_device_begin(handle, &code);
  if (body == NULL) CAMLreturn(Val_int(code));
  const size_t size = caml_string_length(message);
  void* const copied = malloc(size + 1);
  if (copied == NULL) CAMLreturn(Val_int(xsk_device_end(body, -ENOMEM)));
  memcpy(copied, Bytes_val(message), size);
  caml_enter_blocking_section();
  code = strata_hybrid_send(body->handle, copied, size);
  free(copied);
  caml_leave_blocking_section();
  CAMLreturn(Val_int(xsk_device_end(body, code)));
}

/* 1, and the message in the first field of `to`, with its VID and priority (-1: no tag) in the
 * int array `tag`; 0 when none came. The OCaml side asks again, so that signal handlers run in
 * between. */
value xsk_hybrid_receive(value handle, value to, value tag, value timeout_ms) {
  CAMLparam3(handle, to, tag);
  CAMLlocal1(copy);
  strata_hybrid_message came = {.bytes = NULL, .size = 0};
  char* held = NULL;
  int code = 0;
  const int limit = Int_val(timeout_ms);
  struct device_body* const body = xsk_device_begin(handle, &code);
  if (body == NULL) CAMLreturn(Val_int(code));
  caml_enter_blocking_section();
  code = strata_hybrid_receive(body->handle, limit, &came);
  if (code == 1) {
    held = malloc(came.size + 1);
    if (held != NULL && came.size != 0) memcpy(held, came.bytes, came.size);
  }
  caml_leave_blocking_section();
  if (code == 1 && held == NULL) code = -ENOMEM;
  code = xsk_device_end(body, code);
  if (code == 1) {
    copy = caml_alloc_initialized_string(came.size, held);
    Store_field(to, 0, copy);
    Field(tag, 0) = Val_long(came.was_tagged ? came.vlan_id : -1);
    Field(tag, 1) = Val_long(came.priority);
  }
  free(held);
  CAMLreturn(Val_int(code));
}

value xsk_hybrid_max_payload(value handle) {
  if (Device_body(handle) == NULL) return Val_int(XSK_CLOSED);
  return Val_long((long)strata_hybrid_max_payload(Device_body(handle)->handle));
}

value xsk_hybrid_control_fd(value handle) {
  if (Device_body(handle) == NULL) return Val_int(XSK_CLOSED);
  return Val_int(strata_hybrid_control_fd(Device_body(handle)->handle));
}

/* Into six bytes. */
value xsk_hybrid_peer(value handle, value to) {
  if (Device_body(handle) == NULL) return Val_int(XSK_CLOSED);
  strata_hybrid_peer(Device_body(handle)->handle, Bytes_val(to));
  return Val_int(0);
}
