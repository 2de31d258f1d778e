/* Waiting without the runtime lock, and what the kernel counted. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <time.h>

#include "handles.h"

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int left_ms(int64_t until_ns) {
  const int64_t left = (until_ns - now_ns() + 999999) / 1000000;
  return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

int xsk_poll(int fd, short events, intnat timeout_ms, value* raised) {
  const int has_limit = timeout_ms >= 0;
  const int64_t limit_ms = timeout_ms > INT_MAX ? INT_MAX : timeout_ms;
  const int64_t until_ns = has_limit ? now_ns() + limit_ms * 1000000 : 0;
  *raised = Val_unit;
  for (;;) {
    struct pollfd asked = {.fd = fd, .events = events, .revents = 0};
    const int left = has_limit ? left_ms(until_ns) : -1;
    caml_enter_blocking_section();
    const int ready = poll(&asked, 1, left);
    const int code = errno;
    caml_leave_blocking_section();
    if (ready >= 0) return (asked.revents & events) != 0;
    if (code != EINTR) return -code;
    *raised = caml_process_pending_actions_exn();
    if (Is_exception_result(*raised)) return 0;
  }
}

void xsk_write_statistics(const strata_xdp_statistics* counted, value to) {
  Field(to, 0) = Val_long(counted->dropped);
  Field(to, 1) = Val_long(counted->receive_ring_full);
  Field(to, 2) = Val_long(counted->fill_ring_empty);
  Field(to, 3) = Val_long(counted->transmit_ring_empty);
  Field(to, 4) = Val_long(counted->invalid_receive);
  Field(to, 5) = Val_long(counted->invalid_transmit);
}
