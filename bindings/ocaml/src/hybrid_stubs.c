/* Hybrids of TCP and Ethernet, and their listeners. They wait in whatever is called, so each call
 * has the runtime lock given up. */
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

XSK_QUESTION(xsk_hybrid_port, Device_body, strata_hybrid_listener_port(Device_body(handle)->handle))

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

static int send_by_hybrid(void* which, const void* bytes, size_t size) {
  return strata_hybrid_send(which, bytes, size);
}

value xsk_hybrid_send(value handle, value message) {
  return xsk_device_send(handle, message, send_by_hybrid);
}

static int receive_by_hybrid(void* which, int timeout_ms, struct xsk_lent* came) {
  strata_hybrid_message message = {.bytes = NULL, .size = 0};
  const int code = strata_hybrid_receive(which, timeout_ms, &message);
  came->bytes = message.bytes;
  came->size = message.size;
  came->vlan_id = message.was_tagged ? message.vlan_id : -1;
  came->priority = message.priority;
  return code;
}

/* Its VID and priority go into the int array `tag`. */
value xsk_hybrid_receive(value handle, value to, value tag, value timeout_ms) {
  CAMLparam1(tag);
  struct xsk_lent came = {.bytes = NULL};
  const int code = xsk_device_receive(handle, to, Int_val(timeout_ms), receive_by_hybrid, &came);
  if (code == 1) {
    Field(tag, 0) = Val_long(came.vlan_id);
    Field(tag, 1) = Val_long(came.priority);
  }
  CAMLreturn(Val_int(code));
}

XSK_QUESTION(xsk_hybrid_max_payload, Device_body,
             (long)strata_hybrid_max_payload(Device_body(handle)->handle))

XSK_QUESTION(xsk_hybrid_control_fd, Device_body,
             strata_hybrid_control_fd(Device_body(handle)->handle))

/* Into six bytes. */
value xsk_hybrid_peer(value handle, value to) {
  if (Device_body(handle) == NULL) return Val_int(XSK_CLOSED);
  strata_hybrid_peer(Device_body(handle)->handle, Bytes_val(to));
  return Val_int(0);
}
