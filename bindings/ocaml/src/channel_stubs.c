/* Channels. They take turns in whatever is called, so each call has the runtime lock given up. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "devices.h"

static void close_channel(void* which) { strata_channel_close(which); }
static int fd_of_channel(const void* which) { return strata_channel_fd(which); }

value xsk_channel_open(value blank, value interface_name, value name, value ints) {
  strata_channel_options options;
  strata_channel* opened = NULL;
  strata_channel_defaults(&options);
  options.interface_name = String_val(interface_name);
  options.name = String_val(name);
  options.ethertype = (uint16_t)Long_val(Field(ints, 0));
  options.acknowledged = (uint8_t)Long_val(Field(ints, 1));
  options.max_message = (size_t)Long_val(Field(ints, 2));
  options.send_buffer = (size_t)Long_val(Field(ints, 3));
  options.receive_buffer = (size_t)Long_val(Field(ints, 4));
  options.max_delay_us = (uint32_t)Long_val(Field(ints, 5));
  options.send_timeout_ms = (uint32_t)Long_val(Field(ints, 6));
  options.peer_timeout_ms = (uint32_t)Long_val(Field(ints, 7));
  const int code = strata_channel_open(&options, &opened);
  return Val_int(code != 0 ? code : xsk_device_adopt(blank, opened, close_channel, fd_of_channel));
}

value xsk_channel_defaults(value to) {
  strata_channel_options options;
  strata_channel_defaults(&options);
  Field(to, 0) = Val_long(options.ethertype);
  Field(to, 1) = Val_long(options.acknowledged);
  Field(to, 2) = Val_long((long)options.max_message);
  Field(to, 3) = Val_long((long)options.send_buffer);
  Field(to, 4) = Val_long((long)options.receive_buffer);
  Field(to, 5) = Val_long(options.max_delay_us);
  Field(to, 6) = Val_long(options.send_timeout_ms);
  Field(to, 7) = Val_long(options.peer_timeout_ms);
  return Val_unit;
}

value xsk_channel_send(value handle, value message, value is_posted) {
  CAMLparam2(handle, message);
  int code = 0;
  const int posted = Bool_val(is_posted);
  struct device_body* const body = xsk_device_begin(handle, &code);
  if (body == NULL) CAMLreturn(Val_int(code));
  const size_t size = caml_string_length(message);
  void* const copied = malloc(size + 1);
  if (copied == NULL) CAMLreturn(Val_int(xsk_device_end(body, -ENOMEM)));
  memcpy(copied, Bytes_val(message), size);
  caml_enter_blocking_section();
  code = posted ? strata_channel_post(body->handle, copied, size)
                : strata_channel_send(body->handle, copied, size);
  free(copied);
  caml_leave_blocking_section();
  CAMLreturn(Val_int(xsk_device_end(body, code)));
}

/* Waits for `timeout_ms`; negative: flushes only. */
value xsk_channel_finish(value handle, value timeout_ms) {
  CAMLparam1(handle);
  int code = 0;
  const int limit = Int_val(timeout_ms);
  struct device_body* const body = xsk_device_begin(handle, &code);
  if (body == NULL) CAMLreturn(Val_int(code));
  caml_enter_blocking_section();
  code = limit < 0 ? strata_channel_flush(body->handle)
                   : strata_channel_finish(body->handle, limit);
  caml_leave_blocking_section();
  CAMLreturn(Val_int(xsk_device_end(body, code)));
}

/* 1, and the message in the first field of `to`; 0 when none came. The OCaml side asks again, so
 * that signal handlers run in between. */
value xsk_channel_receive(value handle, value to, value timeout_ms) {
  CAMLparam2(handle, to);
  CAMLlocal1(copy);
  strata_message came = {.bytes = NULL, .size = 0, .sender = 0};
  char* held = NULL;
  int code = 0;
  const int limit = Int_val(timeout_ms);
  struct device_body* const body = xsk_device_begin(handle, &code);
  if (body == NULL) CAMLreturn(Val_int(code));
  caml_enter_blocking_section();
  code = strata_channel_receive(body->handle, limit, &came);
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
  }
  free(held);
  CAMLreturn(Val_int(code));
}

value xsk_channel_has_peer(value handle) {
  struct device_body* const body = Device_body(handle);
  if (body == NULL) return Val_int(XSK_CLOSED);
  if (body->is_busy) return Val_int(XSK_BUSY);
  return Val_int(strata_channel_has_peer(body->handle));
}
