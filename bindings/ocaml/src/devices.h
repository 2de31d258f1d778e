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

/* As xsk_poll for reading; XSK_CLOSED when somebody closed it meanwhile. */
int xsk_device_wait(struct device_body* body, intnat timeout_ms, value* raised);

#endif
