/* Ports: frames instead of rings. */
#include <errno.h>
#include <string.h>

#include "devices.h"

enum { some = 64 };

static strata_xdp_port* port_of(value handle) { return Device_body(handle)->handle; }
static void close_port(void* which) { strata_xdp_port_close(which); }
static int fd_of_port(const void* which) { return strata_xdp_port_fd(which); }

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
  strata_xdp_port* opened = NULL;
  xsk_read_request(&asked, request, daemon_socket);
  caml_enter_blocking_section();
  const int code = open(&asked, &opened);
  caml_leave_blocking_section();
  xsk_free_request(&asked);
  if (code != 0) CAMLreturn(Val_int(code));
  CAMLreturn(Val_int(xsk_device_adopt(blank, opened, close_port, fd_of_port)));
}

value xsk_port_open(value blank, value request) {
  return open_by(open_here, blank, request, Val_none);
}

value xsk_port_open_through_daemon(value blank, value request, value daemon_socket) {
  return open_by(open_through_daemon, blank, request, daemon_socket);
}

XSK_QUESTION(xsk_port_is_zerocopy, Device_body, strata_xdp_port_is_zerocopy(port_of(handle)))

XSK_QUESTION(xsk_port_is_native, Device_body, strata_xdp_port_is_native(port_of(handle)))

value xsk_port_statistics(value handle, value to) {
  strata_xdp_statistics counted;
  if (Device_body(handle) == NULL) return Val_int(XSK_CLOSED);
  const int code = strata_xdp_port_statistics(port_of(handle), &counted);
  if (code == 0) xsk_write_statistics(&counted, to);
  return Val_int(code);
}

/* Never waits, so the frames stay where they are. */
value xsk_port_send(value handle, value frames, value pos, value nb) {
  struct iovec part[some];
  if (Device_body(handle) == NULL) return Val_int(XSK_CLOSED);
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
    const int code = strata_xdp_port_send(port_of(handle), part, (size_t)next, &sent);
    if (code != 0 && done == 0) return Val_int(code);
    done += (long)sent;
    if (code != 0 || (long)sent < next) break;
  }
  return Val_long(done);
}

value xsk_port_try_flush(value handle) {
  if (Device_body(handle) == NULL) return Val_int(XSK_CLOSED);
  return Val_int(strata_xdp_port_flush(port_of(handle), 0));
}

static int take(value handle, struct iovec* frames, long count, size_t* got) {
  if (Device_body(handle) == NULL) return XSK_CLOSED;
  const size_t most = (size_t)(count < some ? count : some);
  return strata_xdp_port_receive(port_of(handle), frames, most, 0, got);
}

/* Puts new byte strings into the array `to`. */
value xsk_port_receive(value handle, value to, value pos, value nb, value timeout_ms) {
  CAMLparam2(handle, to);
  CAMLlocal1(copy);
  struct iovec frames[some];
  size_t got = 0;
  int code = take(handle, frames, Long_val(nb), &got);
  if (code == 0 && got == 0 && Long_val(nb) != 0 && Long_val(timeout_ms) != 0) {
    value raised = Val_unit;
    code = xsk_device_wait(Device_body(handle), Long_val(timeout_ms), &raised);
    if (Is_exception_result(raised)) caml_raise(Extract_exception(raised));
    if (code > 0) code = take(handle, frames, Long_val(nb), &got);
  }
  if (code != 0) CAMLreturn(Val_int(code));
  for (size_t i = 0; i < got; ++i) {
    copy = caml_alloc_initialized_string(frames[i].iov_len, frames[i].iov_base);
    Store_field(to, Long_val(pos) + (long)i, copy);
  }
  CAMLreturn(Val_long((long)got));
}
