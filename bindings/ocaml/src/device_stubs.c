/* Sockets, rings, channels and netlink connections: what their OCaml values have in common. */
#include "devices.h"

#include <errno.h>
#include <stdlib.h>

static void end(struct device_body* which) {
  which->close(which->handle);
  free(which->memory);
  free(which);
}

static void finalize_device(value handle) {
  if (Device_body(handle) != NULL) end(Device_body(handle));
}

static struct custom_operations device_operations = {
    .identifier = "strata.xsk.device",
    .finalize = finalize_device,
    .compare = custom_compare_default,
    .hash = custom_hash_default,
    .serialize = custom_serialize_default,
    .deserialize = custom_deserialize_default,
    .compare_ext = custom_compare_ext_default,
    .fixed_length = custom_fixed_length_default,
};

value xsk_device_blank(value size) {
  const value made = caml_alloc_custom_mem(&device_operations, sizeof(struct device_body*),
                                           (mlsize_t)Long_val(size));
  Device_body(made) = NULL;
  return made;
}

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

value xsk_device_fd(value handle) {
  const struct device_body* const body = Device_body(handle);
  return Val_int(body == NULL ? XSK_CLOSED : body->fd(body->handle));
}
