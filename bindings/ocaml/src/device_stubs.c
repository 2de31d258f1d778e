/* Sockets, rings, channels and netlink connections: what their OCaml values have in common. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "devices.h"

static void end(struct device_body* which) {
  which->close(which->handle);
  free(which->memory);
  free(which);
}

XSK_HANDLE(device, Device_body, end)
XSK_BLANK_OF_SIZE(device, Device_body)

int xsk_device_adopt(value blank, void* handle, void (*close)(void*), int (*fd)(const void*)) {
  struct device_body* const body = calloc(1, sizeof *body);
  if (body == NULL) {
    close(handle);
    return -ENOMEM;
  }
  body->handle = handle;
  body->close = close;
  body->fd = fd;
  Device_body(blank) = body;
  return 0;
}

struct device_body* xsk_device_begin(value handle, int* code) {
  struct device_body* const body = Device_body(handle);
  *code = body == NULL ? XSK_CLOSED : body->is_busy ? XSK_BUSY : 0;
  if (*code != 0) return NULL;
  body->is_busy = 1;
  body->waits++;
  return body;
}

int xsk_device_end(struct device_body* body, int code) {
  body->is_busy = 0;
  body->waits--;
  if (!body->is_closed) return code;
  if (body->waits == 0) end(body);
  return XSK_CLOSED;
}

int xsk_device_wait(struct device_body* body, intnat timeout_ms, value* raised) {
  body->waits++;
  int outcome = xsk_poll(body->fd(body->handle), POLLIN, timeout_ms, raised);
  body->waits--;
  if (body->is_closed) {
    if (body->waits == 0) end(body);
    outcome = XSK_CLOSED;
  }
  return outcome;
}

/* --- messages: what is OCaml's may move without the runtime lock, and what a device lends may go
 * with it, so both are copied */

static char* copy_of(const void* bytes, size_t size) {
  char* const made = malloc(size + 1);
  if (made != NULL && size != 0) memcpy(made, bytes, size);
  return made;
}

value xsk_device_send(value handle, value message, xsk_sender* send) {
  CAMLparam2(handle, message);
  int code = 0;
  struct device_body* const body = xsk_device_begin(handle, &code);
  if (body == NULL) CAMLreturn(Val_int(code));
  const size_t size = caml_string_length(message);
  char* const copied = copy_of(Bytes_val(message), size);
  if (copied == NULL) CAMLreturn(Val_int(xsk_device_end(body, -ENOMEM)));
  caml_enter_blocking_section();
  code = send(body->handle, copied, size);
  free(copied);
  caml_leave_blocking_section();
  CAMLreturn(Val_int(xsk_device_end(body, code)));
}

int xsk_device_receive(value handle, value to, int timeout_ms, xsk_receiver* receive,
                       struct xsk_lent* came) {
  CAMLparam2(handle, to);
  CAMLlocal1(copy);
  char* held = NULL;
  int code = 0;
  struct device_body* const body = xsk_device_begin(handle, &code);
  if (body == NULL) CAMLreturnT(int, code);
  caml_enter_blocking_section();
  code = receive(body->handle, timeout_ms, came);
  if (code == 1) {
    held = copy_of(came->bytes, came->size);
    if (held == NULL) code = -ENOMEM;
  }
  caml_leave_blocking_section();
  code = xsk_device_end(body, code);
  if (code == 1) {
    copy = caml_alloc_initialized_string(came->size, held);
    Store_field(to, 0, copy);
  }
  free(held);
  CAMLreturnT(int, code);
}

/* --- the end */

value xsk_device_close(value handle) {
  struct device_body* const body = Device_body(handle);
  if (body == NULL) return Val_unit;
  Device_body(handle) = NULL;
  body->is_closed = 1;
  if (body->waits != 0) return Val_unit;
  caml_enter_blocking_section();
  end(body);
  caml_leave_blocking_section();
  return Val_unit;
}

XSK_QUESTION(xsk_device_fd, Device_body, Device_body(handle)->fd(Device_body(handle)->handle))
