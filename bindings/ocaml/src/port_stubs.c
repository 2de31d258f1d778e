/* Ports: frames instead of rings. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "handles.h"

enum { some = 64 };

struct port_body {
  strata_xdp_port* handle;
  long waits; /* threads that wait for it without the runtime lock */
  int is_closed;
};

#define Port_body(v) (*(struct port_body**)Data_custom_val(v))

static void end(struct port_body* which) {
  strata_xdp_port_close(which->handle);
  free(which);
}

static void finalize_port(value handle) {
  if (Port_body(handle) != NULL) end(Port_body(handle));
}

static struct custom_operations port_operations = {
    .identifier = "strata.xsk.port",
    .finalize = finalize_port,
    .compare = custom_compare_default,
    .hash = custom_hash_default,
    .serialize = custom_serialize_default,
    .deserialize = custom_deserialize_default,
    .compare_ext = custom_compare_ext_default,
    .fixed_length = custom_fixed_length_default,
};

value xsk_port_blank(value size) {
  const value made =
      caml_alloc_custom_mem(&port_operations, sizeof(struct port_body*), (mlsize_t)Long_val(size));
  Port_body(made) = NULL;
  return made;
}

static char* copy_of(value text) { return caml_stat_strdup(String_val(text)); }

void xsk_read_request(struct xsk_request* to, value request, value daemon_socket) {
  to->interface_name = copy_of(Field(request, 0));
  to->daemon_socket = Is_some(daemon_socket) ? copy_of(Some_val(daemon_socket)) : NULL;
  to->queue = (uint32_t)Long_val(Field(request, 1));
  to->filter = xsk_filter(Field(request, 3), Field(request, 4));
  if (to->filter.destination != NULL) {
    memcpy(to->mac, to->filter.destination, sizeof to->mac);
    to->filter.destination = to->mac;
  }
  to->memory = xsk_umem_options(Field(request, 5));
  to->socket = xsk_socket_options(Field(request, 6));
  to->options = (strata_xdp_port_options){.size = sizeof to->options,
                                          .attach_mode = Int_val(Field(request, 2)),
                                          .filter = &to->filter,
                                          .memory = &to->memory,
                                          .socket = &to->socket};
}

void xsk_free_request(struct xsk_request* which) {
  caml_stat_free(which->interface_name);
  caml_stat_free(which->daemon_socket);
}

static int open_here(const struct xsk_request* asked, strata_xdp_port** opened) {
  return strata_xdp_port_open(asked->interface_name, asked->queue, &asked->options, opened);
}

static int open_through_daemon(const struct xsk_request* asked, strata_xdp_port** opened) {
  return strata_xdp_port_open_through_daemon(asked->daemon_socket, asked->interface_name,
                                             asked->queue, &asked->options, opened);
}

static value open_by(int (*open)(const struct xsk_request*, strata_xdp_port**), value blank,
                     value request, value daemon_socket) {
  CAMLparam1(blank);
  struct xsk_request asked;
  struct port_body* const body = calloc(1, sizeof *body);
  if (body == NULL) CAMLreturn(Val_int(-ENOMEM));
  xsk_read_request(&asked, request, daemon_socket);
  caml_enter_blocking_section();
  const int code = open(&asked, &body->handle);
  caml_leave_blocking_section();
  xsk_free_request(&asked);
  if (code == 0) {
    Port_body(blank) = body;
  } else {
    free(body);
  }
  CAMLreturn(Val_int(code));
}

value xsk_port_open(value blank, value request) {
  return open_by(open_here, blank, request, Val_none);
}

value xsk_port_open_through_daemon(value blank, value request, value daemon_socket) {
  return open_by(open_through_daemon, blank, request, daemon_socket);
}

value xsk_port_close(value handle) {
  struct port_body* const body = Port_body(handle);
  if (body == NULL) return Val_unit;
  Port_body(handle) = NULL;
  body->is_closed = 1;
  if (body->waits != 0) return Val_unit;
  caml_enter_blocking_section();
  end(body);
  caml_leave_blocking_section();
  return Val_unit;
}

value xsk_port_fd(value handle) {
  if (Port_body(handle) == NULL) return Val_int(XSK_CLOSED);
  return Val_int(strata_xdp_port_fd(Port_body(handle)->handle));
}

value xsk_port_is_zerocopy(value handle) {
  if (Port_body(handle) == NULL) return Val_int(XSK_CLOSED);
  return Val_int(strata_xdp_port_is_zerocopy(Port_body(handle)->handle));
}

value xsk_port_is_native(value handle) {
  if (Port_body(handle) == NULL) return Val_int(XSK_CLOSED);
  return Val_int(strata_xdp_port_is_native(Port_body(handle)->handle));
}

value xsk_port_statistics(value handle, value to) {
  strata_xdp_statistics counted;
  if (Port_body(handle) == NULL) return Val_int(XSK_CLOSED);
  const int code = strata_xdp_port_statistics(Port_body(handle)->handle, &counted);
  if (code == 0) xsk_write_statistics(&counted, to);
  return Val_int(code);
}

/* Never waits, so the frames stay where they are. */
value xsk_port_send(value handle, value frames, value pos, value nb) {
  struct iovec part[some];
  if (Port_body(handle) == NULL) return Val_int(XSK_CLOSED);
  const long count = Long_val(nb);
  long done = 0;
  while (done < count) {
    const long next = count - done < some ? count - done : some;
    for (long i = 0; i < next; ++i) {
      const value frame = Field(frames, Long_val(pos) + done + i);
      part[i].iov_base = Bytes_val(frame);
      part[i].iov_len = caml_string_length(frame);
    }
    size_t sent = 0;
    const int code = strata_xdp_port_send(Port_body(handle)->handle, part, (size_t)next, &sent);
    if (code != 0 && done == 0) return Val_int(code);
    done += (long)sent;
    if (code != 0 || (long)sent < next) break;
  }
  return Val_long(done);
}

static int take(value handle, struct iovec* frames, long count, size_t* got) {
  if (Port_body(handle) == NULL) return XSK_CLOSED;
  const size_t most = (size_t)(count < some ? count : some);
  return strata_xdp_port_receive(Port_body(handle)->handle, frames, most, 0, got);
}

static int wait_for_frames(value handle, intnat timeout_ms) {
  CAMLparam1(handle);
  struct port_body* const body = Port_body(handle);
  value raised = Val_unit;
  body->waits++;
  int outcome = xsk_poll(strata_xdp_port_fd(body->handle), POLLIN, timeout_ms, &raised);
  body->waits--;
  if (body->is_closed) {
    if (body->waits == 0) end(body);
    outcome = XSK_CLOSED;
  }
  if (Is_exception_result(raised)) caml_raise(Extract_exception(raised));
  CAMLreturnT(int, outcome);
}

/* Puts new byte strings into the array `to`. */
value xsk_port_receive(value handle, value to, value pos, value nb, value timeout_ms) {
  CAMLparam2(handle, to);
  CAMLlocal1(copy);
  struct iovec frames[some];
  size_t got = 0;
  int code = take(handle, frames, Long_val(nb), &got);
  if (code == 0 && got == 0 && Long_val(nb) != 0 && Long_val(timeout_ms) != 0) {
    code = wait_for_frames(handle, Long_val(timeout_ms));
    if (code > 0) code = take(handle, frames, Long_val(nb), &got);
  }
  if (code != 0) CAMLreturn(Val_int(code));
  for (size_t i = 0; i < got; ++i) {
    copy = caml_alloc_initialized_string(frames[i].iov_len, frames[i].iov_base);
    Store_field(to, Long_val(pos) + (long)i, copy);
  }
  CAMLreturn(Val_long((long)got));
}
