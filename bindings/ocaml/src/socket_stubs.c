/* Opening and closing sockets, and what is not about their rings. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "handles.h"

/* --- life */

static void close_with_lock(struct socket_body* which) {
  struct umem_body* const umem = which->umem;
  strata_xdp_socket_close(which->handle);
  pthread_mutex_unlock(&umem->lock);
  free(which);
  xsk_umem_leave(umem);
}

void xsk_socket_end(struct socket_body* which) {
  struct umem_body* const umem = which->umem;
  if (pthread_mutex_trylock(&umem->lock) == 0) {
    close_with_lock(which);
    return;
  }
  which->next_late = umem->late;
  umem->late = which;
}

/* The caller held the UMEM's lock, and has the runtime lock again. It has to be one
 * of the UMEM's users. */
static void close_late(struct umem_body* umem) {
  while (umem->late != NULL && pthread_mutex_trylock(&umem->lock) == 0) {
    struct socket_body* const which = umem->late;
    umem->late = which->next_late;
    close_with_lock(which);
  }
}

XSK_HANDLE(socket, Socket_body, xsk_socket_end)
XSK_BLANK(socket, Socket_body)

strata_xdp_socket_options xsk_socket_options(value ints) {
  strata_xdp_socket_options options;
  strata_xdp_socket_defaults(&options);
  options.receive_size = (uint32_t)Long_val(Field(ints, 0));
  options.transmit_size = (uint32_t)Long_val(Field(ints, 1));
  options.fill_size = (uint32_t)Long_val(Field(ints, 2));
  options.completion_size = (uint32_t)Long_val(Field(ints, 3));
  options.mode = (uint8_t)Long_val(Field(ints, 4));
  options.need_wakeup = (uint8_t)Long_val(Field(ints, 5));
  options.multi_buffer = (uint8_t)Long_val(Field(ints, 6));
  options.busy_poll_us = (uint32_t)Long_val(Field(ints, 7));
  options.busy_poll_budget = (uint32_t)Long_val(Field(ints, 8));
  options.busy_limit_ms = (uint32_t)Long_val(Field(ints, 9));
  return options;
}

/* Waits for a queue that is held, and for a thread that opens or closes another of the UMEM. */
value xsk_socket_open(value blank, value umem_handle, value interface_name, value queue,
                      value ints) {
  CAMLparam1(blank);
  struct umem_body* const umem = Umem_body(umem_handle);
  if (umem == NULL) CAMLreturn(Val_int(XSK_CLOSED));
  struct socket_body* const body = calloc(1, sizeof *body);
  if (body == NULL) CAMLreturn(Val_int(-ENOMEM));
  char* const name = caml_stat_strdup(String_val(interface_name));
  const strata_xdp_socket_options options = xsk_socket_options(ints);
  const uint32_t number = (uint32_t)Long_val(queue);
  umem->users++;
  caml_enter_blocking_section();
  pthread_mutex_lock(&umem->lock);
  const int code = strata_xdp_socket_open(umem->handle, name, number, &options, &body->handle);
  pthread_mutex_unlock(&umem->lock);
  caml_leave_blocking_section();
  caml_stat_free(name);
  close_late(umem);
  if (code == 0) {
    body->umem = umem;
    Socket_body(blank) = body;
  } else {
    free(body);
    xsk_umem_leave(umem);
  }
  CAMLreturn(Val_int(code));
}

/* Waits for the daemon. The UMEM is made too, so nobody else opens or closes one of it. */
value xsk_socket_open_through_daemon(value blank, value umem_blank, value request,
                                     value daemon_socket) {
  CAMLparam2(blank, umem_blank);
  struct xsk_request asked;
  strata_xdp_umem* memory = NULL;
  struct socket_body* const body = calloc(1, sizeof *body);
  if (body == NULL) CAMLreturn(Val_int(-ENOMEM));
  xsk_read_request(&asked, request, daemon_socket);
  caml_enter_blocking_section();
  int code =
      strata_xdp_socket_open_through_daemon(asked.daemon_socket, asked.interface_name, asked.queue,
                                            &asked.options, &memory, &body->handle);
  caml_leave_blocking_section();
  xsk_free_request(&asked);
  if (code == 0) {
    code = xsk_umem_adopt(umem_blank, memory);
    if (code != 0) strata_xdp_socket_close(body->handle);
  }
  if (code == 0) {
    body->umem = Umem_body(umem_blank);
    body->umem->users++;
    Socket_body(blank) = body;
  } else {
    free(body);
  }
  CAMLreturn(Val_int(code));
}

/* `key` is negative for that of its queue. */
value xsk_socket_enter_in_map(value handle, value map, value key) {
  if (Socket_body(handle) == NULL) return Val_int(XSK_CLOSED);
  return Val_int(
      strata_xdp_socket_enter_in_map(Socket_body(handle)->handle, Int_val(map), Long_val(key)));
}

/* The kernel may take some 20 ms for it. When another thread waits for the socket, that one closes
 * it at last. */
value xsk_socket_close(value handle) {
  struct socket_body* const body = Socket_body(handle);
  if (body == NULL) return Val_unit;
  Socket_body(handle) = NULL;
  body->is_closed = 1;
  if (body->waits != 0) return Val_unit;
  struct umem_body* const umem = body->umem;
  caml_enter_blocking_section();
  pthread_mutex_lock(&umem->lock);
  strata_xdp_socket_close(body->handle);
  pthread_mutex_unlock(&umem->lock);
  caml_leave_blocking_section();
  free(body);
  close_late(umem);
  xsk_umem_leave(umem);
  return Val_unit;
}

/* --- questions */

XSK_QUESTION(xsk_socket_fd, Socket_body, strata_xdp_socket_fd(Socket_body(handle)->handle))

XSK_QUESTION(xsk_socket_is_zerocopy, Socket_body,
             strata_xdp_socket_is_zerocopy(Socket_body(handle)->handle))

XSK_QUESTION(xsk_socket_is_busy_polled, Socket_body,
             strata_xdp_socket_is_busy_polled(Socket_body(handle)->handle))

/* Writes into an array of six. */
value xsk_socket_statistics(value handle, value to) {
  strata_xdp_statistics counted;
  if (Socket_body(handle) == NULL) return Val_int(XSK_CLOSED);
  const int code = strata_xdp_socket_statistics(Socket_body(handle)->handle, &counted);
  if (code == 0) xsk_write_statistics(&counted, to);
  return Val_int(code);
}

/* --- waiting */

/* POLLIN or POLLOUT. */
intnat xsk_socket_wait(value handle, intnat for_output, intnat timeout_ms) {
  CAMLparam1(handle);
  struct socket_body* const body = Socket_body(handle);
  if (body == NULL) CAMLreturnT(intnat, XSK_CLOSED);
  value raised = Val_unit;
  body->waits++;
  intnat outcome = xsk_poll(strata_xdp_socket_fd(body->handle), for_output != 0 ? POLLOUT : POLLIN,
                            timeout_ms, &raised);
  body->waits--;
  if (body->is_closed) {
    if (body->waits == 0) xsk_socket_end(body);
    outcome = XSK_CLOSED;
  }
  if (Is_exception_result(raised)) caml_raise(Extract_exception(raised));
  CAMLreturnT(intnat, outcome);
}
XSK_BYTE_ENTRY_3(xsk_socket_wait)
