/* Sockets, rings, channels and netlink connections. One thread at a time is in a call that gives up
 * the runtime lock; another that asks meanwhile gets XSK_BUSY. */
#ifndef XSK_DEVICES_H
#define XSK_DEVICES_H

#include <poll.h>
#include <strata/strata_ipc.h>
#include <strata/strata_l2.h>
#include <strata/strata_nl.h>

#include "handles.h"

#define XSK_BUSY (-100002)

struct device_body {
  void* handle;
  void (*close)(void*);
  int (*fd)(const void*);
  void* memory; /* of what it receives into, where it has such */
  size_t slot_size;
  long waits; /* threads that use it without the runtime lock */
  int is_busy;
  int is_closed;
};

#define Device_body(v) (*(struct device_body**)Data_custom_val(v))

/* Puts `handle` into the block; when there is no memory for that, closes it and returns -ENOMEM. */
int xsk_device_adopt(value blank, void* handle, void (*close)(void*), int (*fd)(const void*));

/* Around what is done without the runtime lock: the body, or NULL and why not; then `code`, or
 * XSK_CLOSED when somebody closed it meanwhile, and it is not to be touched any more. */
struct device_body* xsk_device_begin(value handle, int* code);
int xsk_device_end(struct device_body* body, int code);

/* Sends a copy of the message, without the runtime lock. */
typedef int xsk_sender(void* handle, const void* bytes, size_t size);
value xsk_device_send(value handle, value message, xsk_sender* send);

/* A message that lies in the memory of its device until that one is called again. */
struct xsk_lent {
  const void* bytes;
  size_t size;
  int vlan_id; /* -1: it had no tag */
  int priority;
};

/* 1, and a copy of the message in the first field of `to`; 0 when none came; or a negative errno.
 * After 0 the OCaml side asks again, so that signal handlers run in between. `receive` runs without
 * the runtime lock, and returns the same. What `came->bytes` points to may be gone afterwards. */
typedef int xsk_receiver(void* handle, int timeout_ms, struct xsk_lent* came);
int xsk_device_receive(value handle, value to, int timeout_ms, xsk_receiver* receive,
                       struct xsk_lent* came);

/* As xsk_poll for reading; XSK_CLOSED when somebody closed it meanwhile. */
int xsk_device_wait(struct device_body* body, intnat timeout_ms, value* raised);

#endif
