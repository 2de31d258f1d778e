/* What an OCaml value of the library points to, and the rules that all stubs obey:
 *
 * - No stub raises. One that fails returns a negative errno, or XSK_CLOSED or XSK_RANGE, and the
 *   OCaml side raises. (But Out_of_memory; and waiting, what a signal's handler raised. None of
 *   these stubs is [@@noalloc].)
 * - A custom block holds a body, or NULL once it was closed. The block's finaliser closes too.
 * - The runtime lock guards all fields here but `lock` itself.
 */
#ifndef XSK_HANDLES_H
#define XSK_HANDLES_H

#include <caml/alloc.h>
#include <caml/bigarray.h>
#include <caml/custom.h>
#include <caml/fail.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/signals.h>
#include <pthread.h>
#include <strata/strata_xdp.h>

#define XSK_CLOSED (-100000)
#define XSK_RANGE (-100001)

struct socket_body;

/* Lives as long as its OCaml value is open, a socket uses it, or a Bigarray of its memory is
 * reachable: `users` counts these. */
struct umem_body {
  strata_xdp_umem* handle;
  long users;
  /* Opening and closing sockets changes the UMEM's list of them. */
  pthread_mutex_t lock;
  /* Sockets that were finalised while another thread held `lock`; who holds it closes them. */
  struct socket_body* late;
};

struct socket_body {
  strata_xdp_socket* handle;
  struct umem_body* umem;
  long waits; /* threads that wait for it without the runtime lock */
  int is_closed;
  struct socket_body* next_late;
};

#define Umem_body(v) (*(struct umem_body**)Data_custom_val(v))
#define Socket_body(v) (*(struct socket_body**)Data_custom_val(v))

void xsk_umem_leave(struct umem_body* which);

/* Puts `handle` into the block; when there is no memory for that, closes it and returns -ENOMEM. */
int xsk_umem_adopt(value blank, strata_xdp_umem* handle);

/* Closes it now, or later when another thread is about to open or close one of its UMEM. */
void xsk_socket_end(struct socket_body* which);

/* 1 when one of `events` came, 0 after `timeout_ms` (negative: for ever), or a negative errno.
 * Releases the runtime lock. Signal handlers run in between; what one raises goes to `raised`,
 * which is otherwise Val_unit, for the caller to raise when it has put everything in order. */
int xsk_poll(int fd, short events, intnat timeout_ms, value* raised);

/* From the int arrays and strings that the OCaml side makes of its configurations. */
strata_xdp_umem_options xsk_umem_options(value ints);
strata_xdp_socket_options xsk_socket_options(value ints);
/* `mac` is a string that stays where it is only as long as nothing is allocated. */
strata_xdp_filter xsk_filter(value ints, value mac);

/* What Socket.request made, and the daemon's path, copied: their own may move as soon as the
 * runtime lock is released. */
struct xsk_request {
  char* interface_name;
  char* daemon_socket; /* NULL: where daemons listen usually */
  uint32_t queue;
  uint8_t mac[6];
  strata_xdp_filter filter;
  strata_xdp_umem_options memory;
  strata_xdp_socket_options socket;
  strata_xdp_port_options options; /* points to those above */
};

/* `daemon_socket` is a string option. */
void xsk_read_request(struct xsk_request* to, value request, value daemon_socket);
void xsk_free_request(struct xsk_request* which);

/* Into an int array of six. */
void xsk_write_statistics(const strata_xdp_statistics* counted, value to);

/* What every kind of handle has. `held` is a macro above or in the stubs' own file: the pointer in
 * the block that it is given. */

/* The operations of its blocks. `end` is called by the collector, so it must not allocate. */
#define XSK_HANDLE(name, held, end)                     \
  static void finalize_##name(value handle) {           \
    if (held(handle) != NULL) end(held(handle));        \
  }                                                     \
  static struct custom_operations name##_operations = { \
      .identifier = "strata.xsk." #name,                \
      .finalize = finalize_##name,                      \
      .compare = custom_compare_default,                \
      .hash = custom_hash_default,                      \
      .serialize = custom_serialize_default,            \
      .deserialize = custom_deserialize_default,        \
      .compare_ext = custom_compare_ext_default,        \
      .fixed_length = custom_fixed_length_default,      \
  };

/* The stub that makes a block that holds nothing yet. Descriptors are few: a hundred forgotten
 * handles make the collector go once around. */
#define XSK_BLANK(name, held)                                                        \
  value xsk_##name##_blank(value unit) {                                             \
    const value made = caml_alloc_custom(&name##_operations, sizeof(void*), 1, 100); \
    (void)unit;                                                                      \
    held(made) = NULL;                                                               \
    return made;                                                                     \
  }

/* The same for a handle that has memory: `size` in bytes tells the collector. */
#define XSK_BLANK_OF_SIZE(name, held)                                                   \
  value xsk_##name##_blank(value size) {                                                \
    const mlsize_t bytes = (mlsize_t)Long_val(size);                                    \
    const value made = caml_alloc_custom_mem(&name##_operations, sizeof(void*), bytes); \
    held(made) = NULL;                                                                  \
    return made;                                                                        \
  }

/* A stub that answers with an integer, an expression of `handle`, as long as that is open. */
#define XSK_QUESTION(stub, held, answer)                  \
  value stub(value handle) {                              \
    if (held(handle) == NULL) return Val_int(XSK_CLOSED); \
    return Val_long(answer);                              \
  }

/* The entry for byte-code, beside the native one that takes and returns plain integers. */
#define XSK_BYTE_ENTRY_1(name) \
  value name##_byte(value a) { return Val_long(name(a)); }
#define XSK_BYTE_ENTRY_2(name) \
  value name##_byte(value a, value b) { return Val_long(name(a, Long_val(b))); }
#define XSK_BYTE_ENTRY_3(name)                          \
  value name##_byte(value a, value b, value c) {        \
    return Val_long(name(a, Long_val(b), Long_val(c))); \
  }
#define XSK_BYTE_ENTRY_4(name)                             \
  value name##_byte(value a, value b, value c, value d) {  \
    return Val_long(name(a, b, Long_val(c), Long_val(d))); \
  }

#endif
