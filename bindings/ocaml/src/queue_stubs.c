/* The rings. None of these allocates, raises or waits: all are [@@noalloc].
 *
 * Entries go through an array on the stack, some at a time: OCaml's integers have a tag.
 */
#include "handles.h"

enum { some = 64 };

static uint32_t at_most(intnat nb) { return nb > UINT32_MAX ? UINT32_MAX : (uint32_t)nb; }

static uint32_t next_part(uint32_t left) { return left < some ? left : some; }

/* --- addresses */

intnat xsk_fill_produce(value handle, value addresses, intnat pos, intnat nb) {
  uint64_t part[some];
  if (Socket_body(handle) == NULL) return XSK_CLOSED;
  strata_xdp_socket* const to = Socket_body(handle)->handle;
  for (intnat i = 0; i < nb; ++i) {
    if (Long_val(Field(addresses, pos + i)) < 0) return XSK_RANGE;
  }
  const uint32_t count = at_most(nb);
  if (count < nb || strata_xdp_fill_room(to, count) < count) return 0;
  for (uint32_t done = 0; done < count;) {
    const uint32_t next = next_part(count - done);
    for (uint32_t i = 0; i < next; ++i) {
      part[i] = (uint64_t)Long_val(Field(addresses, pos + done + i));
    }
    done += strata_xdp_fill(to, part, next);
  }
  return nb;
}
XSK_BYTE_ENTRY_4(xsk_fill_produce)

intnat xsk_comp_consume(value handle, value addresses, intnat pos, intnat nb) {
  uint64_t part[some];
  if (Socket_body(handle) == NULL) return XSK_CLOSED;
  strata_xdp_socket* const from = Socket_body(handle)->handle;
  const uint32_t count = at_most(nb);
  uint32_t done = 0;
  while (done < count) {
    const uint32_t next = next_part(count - done);
    const uint32_t got = strata_xdp_complete(from, part, next);
    for (uint32_t i = 0; i < got; ++i) {
      Field(addresses, pos + done + i) = Val_long((intnat)part[i]);
    }
    done += got;
    if (got < next) break;
  }
  return done;
}
XSK_BYTE_ENTRY_4(xsk_comp_consume)

/* --- descriptors: Desc.t has three fields, all immediate, so none needs caml_modify */

static int is_sound(value descriptor) {
  return Long_val(Field(descriptor, 0)) >= 0 && Long_val(Field(descriptor, 1)) >= 0 &&
         Long_val(Field(descriptor, 1)) <= UINT32_MAX && Long_val(Field(descriptor, 2)) >= 0 &&
         Long_val(Field(descriptor, 2)) <= UINT32_MAX;
}

intnat xsk_tx_produce(value handle, value descriptors, intnat pos, intnat nb) {
  strata_xdp_descriptor part[some];
  if (Socket_body(handle) == NULL) return XSK_CLOSED;
  strata_xdp_socket* const to = Socket_body(handle)->handle;
  for (intnat i = 0; i < nb; ++i) {
    if (!is_sound(Field(descriptors, pos + i))) return XSK_RANGE;
  }
  const uint32_t count = at_most(nb);
  if (count < nb || strata_xdp_transmit_room(to, count) < count) return 0;
  for (uint32_t done = 0; done < count;) {
    const uint32_t next = next_part(count - done);
    for (uint32_t i = 0; i < next; ++i) {
      const value from = Field(descriptors, pos + done + i);
      part[i].address = (uint64_t)Long_val(Field(from, 0));
      part[i].length = (uint32_t)Long_val(Field(from, 1));
      part[i].options = (uint32_t)Long_val(Field(from, 2));
    }
    done += strata_xdp_transmit(to, part, next);
  }
  return nb;
}
XSK_BYTE_ENTRY_4(xsk_tx_produce)

intnat xsk_rx_consume(value handle, value descriptors, intnat pos, intnat nb) {
  strata_xdp_descriptor part[some];
  if (Socket_body(handle) == NULL) return XSK_CLOSED;
  strata_xdp_socket* const from = Socket_body(handle)->handle;
  const uint32_t count = at_most(nb);
  uint32_t done = 0;
  while (done < count) {
    const uint32_t next = next_part(count - done);
    const uint32_t got = strata_xdp_receive(from, part, next);
    for (uint32_t i = 0; i < got; ++i) {
      const value to = Field(descriptors, pos + done + i);
      Field(to, 0) = Val_long((intnat)part[i].address);
      Field(to, 1) = Val_long((intnat)part[i].length);
      Field(to, 2) = Val_long((intnat)part[i].options);
    }
    done += got;
    if (got < next) break;
  }
  return done;
}
XSK_BYTE_ENTRY_4(xsk_rx_consume)

/* --- wakeups: system calls that never wait, so the runtime lock is kept */

intnat xsk_fill_needs_wakeup(value handle) {
  if (Socket_body(handle) == NULL) return XSK_CLOSED;
  return strata_xdp_fill_needs_wakeup(Socket_body(handle)->handle);
}
XSK_BYTE_ENTRY_1(xsk_fill_needs_wakeup)

intnat xsk_tx_needs_wakeup(value handle) {
  if (Socket_body(handle) == NULL) return XSK_CLOSED;
  return strata_xdp_transmit_needs_wakeup(Socket_body(handle)->handle);
}
XSK_BYTE_ENTRY_1(xsk_tx_needs_wakeup)

intnat xsk_wake_receive(value handle) {
  if (Socket_body(handle) == NULL) return XSK_CLOSED;
  return strata_xdp_wake_receive(Socket_body(handle)->handle);
}
XSK_BYTE_ENTRY_1(xsk_wake_receive)

intnat xsk_wake_transmit(value handle) {
  if (Socket_body(handle) == NULL) return XSK_CLOSED;
  return strata_xdp_wake_transmit(Socket_body(handle)->handle);
}
XSK_BYTE_ENTRY_1(xsk_wake_transmit)
