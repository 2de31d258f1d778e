/* Channels. They take turns in whatever is called, so each call has the runtime lock given up. */
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

static int send_by_channel(void* which, const void* bytes, size_t size) {
  return strata_channel_send(which, bytes, size);
}

static int post_by_channel(void* which, const void* bytes, size_t size) {
  return strata_channel_post(which, bytes, size);
}

value xsk_channel_send(value handle, value message, value is_posted) {
  return xsk_device_send(handle, message, Bool_val(is_posted) ? post_by_channel : send_by_channel);
}

/* Waits for `timeout_ms`; negative: flushes only. */
value xsk_channel_finish(value handle, value timeout_ms) {
  CAMLparam1(handle);
  int code = 0;
  const int limit = Int_val(timeout_ms);
  struct device_body* const body = xsk_device_begin(handle, &code);
  if (body == NULL) CAMLreturn(Val_int(code));
  caml_enter_blocking_section();
  code =
      limit < 0 ? strata_channel_flush(body->handle) : strata_channel_finish(body->handle, limit);
  caml_leave_blocking_section();
  CAMLreturn(Val_int(xsk_device_end(body, code)));
}

static int receive_by_channel(void* which, int timeout_ms, struct xsk_lent* came) {
  strata_message message = {.bytes = NULL, .size = 0, .sender = 0};
  const int code = strata_channel_receive(which, timeout_ms, &message);
  came->bytes = message.bytes;
  came->size = message.size;
  return code;
}

value xsk_channel_receive(value handle, value to, value timeout_ms) {
  struct xsk_lent came = {.bytes = NULL};
  return Val_int(xsk_device_receive(handle, to, Int_val(timeout_ms), receive_by_channel, &came));
}

value xsk_channel_has_peer(value handle) {
  struct device_body* const body = Device_body(handle);
  if (body == NULL) return Val_int(XSK_CLOSED);
  if (body->is_busy) return Val_int(XSK_BUSY);
  return Val_int(strata_channel_has_peer(body->handle));
}
