/* The C ABI of the strata library's AF_XDP part. Link with libstrata-c. The rules of strata.h
 * apply: functions return 0 or a negative errno, strata_last_error() returns the sentence, handles
 * are opaque, closing NULL is harmless, and structures that begin with `size` are initialized by
 * their _defaults function.
 *
 * A handle belongs to one thread at a time, but different threads may use different rings of one
 * socket. Sockets of one UMEM on one queue share one fill and one completion ring, which one thread
 * at a time may use. One thread at a time may open and close sockets of one UMEM. Any thread may
 * call a function that takes a const handle and does not use a ring. Linux 6.1 or newer. Source:
 * Documentation/networking/af_xdp.rst. */
#pragma once

#include <strata/strata.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using) */

/* --- UMEM: the memory whose frames sockets send from and receive into */

/* Memory, divided into frames and shared with the kernel. */
typedef struct strata_xdp_umem strata_xdp_umem;

/* Options of strata_xdp_umem_create; strata_xdp_umem_defaults initializes them. */
typedef struct strata_xdp_umem_options {
  size_t size; /* sizeof(strata_xdp_umem_options) */
  uint32_t frame_count;
  uint32_t frame_size; /* bytes: 2048 or 4096; with `unaligned` any size in that range */
  uint32_t headroom;   /* bytes left free in front of received frames, besides the kernel's 256 */
  uint8_t unaligned;
  uint8_t huge_pages;
} strata_xdp_umem_options;

/* 4096 frames of 4096 bytes. */
void strata_xdp_umem_defaults(strata_xdp_umem_options* options);
/* Creates a UMEM; `options` may be NULL. -EINVAL for a size that the kernel would reject. */
int strata_xdp_umem_create(const strata_xdp_umem_options* options, strata_xdp_umem** created);
/* As strata_xdp_umem_create, in page-aligned memory of the caller, of `size` bytes. The memory must
 * stay valid, and remains the caller's, until `released` is called with `context`, on the thread
 * that closes the last socket or the UMEM, whichever comes last; `released` may be NULL. -EINVAL
 * for memory that is not page-aligned, or too small. Linux 6.5 or newer rejects a shared mapping of
 * a file on a disk: strata_xdp_socket_open then returns -EFAULT; files of tmpfs and hugetlbfs are
 * accepted. */
int strata_xdp_umem_create_over(void* memory, size_t size, const strata_xdp_umem_options* options,
                                void (*released)(void* context), void* context,
                                strata_xdp_umem** created);
/* Frees the handle; the memory is freed with the last socket that uses it. */
void strata_xdp_umem_close(strata_xdp_umem* umem);
/* Returns the memory, page-aligned; `size` (may be NULL) becomes its size in bytes. It stays the
 * UMEM's. */
void* strata_xdp_umem_memory(const strata_xdp_umem* umem, size_t* size);
/* Returns the beginning of the frame that contains an address of a ring, for reuse. */
uint64_t strata_xdp_umem_frame_of(const strata_xdp_umem* umem, uint64_t address);
/* Returns the offset in the memory of an address of a ring: with unaligned frames the two differ.
 */
uint64_t strata_xdp_umem_position(const strata_xdp_umem* umem, uint64_t address);

/* --- sockets: one queue of one interface, and its rings */

/* An AF_XDP socket with its rings. */
typedef struct strata_xdp_socket strata_xdp_socket;

/* struct xdp_desc */
typedef struct strata_xdp_descriptor {
  uint64_t address;
  uint32_t length;
  uint32_t options; /* 0, or STRATA_XDP_CONTINUES */
} strata_xdp_descriptor;

/* The frame continues in the next descriptor. */
#define STRATA_XDP_CONTINUES 1

#define STRATA_XDP_AUTOMATIC 0 /* the best available mode */
#define STRATA_XDP_COPY 1      /* frames are copied */
#define STRATA_XDP_ZEROCOPY 2  /* the card uses the UMEM itself */

/* Options of strata_xdp_socket_open; strata_xdp_socket_defaults initializes them. */
typedef struct strata_xdp_socket_options {
  size_t size;           /* sizeof(strata_xdp_socket_options) */
  uint32_t receive_size; /* entries of the rings, powers of two; 0: sends only */
  uint32_t transmit_size;
  uint32_t fill_size;
  uint32_t completion_size;
  uint8_t mode; /* STRATA_XDP_AUTOMATIC, STRATA_XDP_COPY, STRATA_XDP_ZEROCOPY */
  uint8_t need_wakeup;
  uint8_t multi_buffer; /* Linux 6.6 */
  uint32_t busy_poll_us;
  uint32_t busy_poll_budget; /* 0: no busy polling */
  uint32_t busy_limit_ms;    /* how long to wait for a queue that is still held */
} strata_xdp_socket_options;

/* Rings of 2048, need_wakeup, 500 ms for a queue that is still held. */
void strata_xdp_socket_defaults(strata_xdp_socket_options* options);
/* Binds to a queue; `options` may be NULL. Sockets of one UMEM on one queue share its fill and
 * completion ring. -ENODEV if there is no such interface, -EPERM without CAP_NET_RAW, -EBUSY if
 * another socket holds the queue, -EOPNOTSUPP for a mode that the driver lacks, -ENOBUFS if the
 * socket would lock more memory than allowed. */
int strata_xdp_socket_open(strata_xdp_umem* memory, const char* interface_name, uint32_t queue,
                           const strata_xdp_socket_options* options, strata_xdp_socket** socket);
/* Closes the socket and frees the handle; its UMEM stays. */
void strata_xdp_socket_close(strata_xdp_socket* socket);
/* Returns the descriptor to poll; it stays the socket's. */
int strata_xdp_socket_fd(const strata_xdp_socket* socket);
/* Returns 1 or 0 for the mode that the kernel chose. */
int strata_xdp_socket_is_zerocopy(const strata_xdp_socket* socket);
/* Returns 1 or 0 for whether busy polling has an effect, or -EAGAIN before the first received
 * frame. */
int strata_xdp_socket_is_busy_polled(const strata_xdp_socket* socket);

/* Gives the kernel frames to receive into. This and the next three functions move up to `count`
 * entries and return how many. The socket must have the ring, and the array have room. None
 * allocates or waits. */
uint32_t strata_xdp_fill(strata_xdp_socket* socket, const uint64_t* addresses, uint32_t count);
/* Takes back frames that were sent: their addresses in the UMEM. */
uint32_t strata_xdp_complete(strata_xdp_socket* socket, uint64_t* addresses, uint32_t count);
/* Takes received frames. */
uint32_t strata_xdp_receive(strata_xdp_socket* socket, strata_xdp_descriptor* descriptors,
                            uint32_t count);
/* Gives the kernel frames to send. */
uint32_t strata_xdp_transmit(strata_xdp_socket* socket, const strata_xdp_descriptor* descriptors,
                             uint32_t count);
/* Returns the number of free places in the fill ring, up to `most`. */
uint32_t strata_xdp_fill_room(strata_xdp_socket* socket, uint32_t most);
/* As strata_xdp_fill_room, for the transmit ring. */
uint32_t strata_xdp_transmit_room(strata_xdp_socket* socket, uint32_t most);

/* Returns 1 if the kernel waits for strata_xdp_wake_receive. */
int strata_xdp_fill_needs_wakeup(const strata_xdp_socket* socket);
/* Returns 1 if the kernel waits for strata_xdp_wake_transmit. */
int strata_xdp_transmit_needs_wakeup(const strata_xdp_socket* socket);
/* Has the kernel send. Returns 1, or 0 if the kernel sent only a part and must be called again; in
 * copy mode it sends 32 frames per call, and needs a call after each strata_xdp_transmit. */
int strata_xdp_wake_transmit(strata_xdp_socket* socket);
/* Has the kernel read the fill ring. Returns 1. */
int strata_xdp_wake_receive(strata_xdp_socket* socket);
/* Returns 1 if there is something to receive; 0 after `timeout_ms` (-1: forever). */
int strata_xdp_wait_readable(const strata_xdp_socket* socket, int timeout_ms);
/* As strata_xdp_wait_readable, until the kernel accepts more frames to send. */
int strata_xdp_wait_writable(const strata_xdp_socket* socket, int timeout_ms);

/* Kernel counters since the socket was created. */
typedef struct strata_xdp_statistics {
  uint64_t dropped;             /* frames redirected to the socket, but lost */
  uint64_t receive_ring_full;   /* of `dropped`: the receive ring was full */
  uint64_t fill_ring_empty;     /* times the kernel found the fill ring empty */
  uint64_t transmit_ring_empty; /* times the kernel found the transmit ring empty */
  uint64_t invalid_receive;     /* fill ring addresses outside of the UMEM */
  uint64_t invalid_transmit;    /* invalid descriptors in the transmit ring */
} strata_xdp_statistics;

/* Writes the kernel's counters to `counted`. */
int strata_xdp_socket_statistics(const strata_xdp_socket* socket, strata_xdp_statistics* counted);

/* --- the program that redirects frames to sockets; all others go on to the kernel */

/* The program of an interface. */
typedef struct strata_xdp_program strata_xdp_program;
/* A filter whose frames go to a socket as long as the handle is open. */
typedef struct strata_xdp_route strata_xdp_route;

#define STRATA_XDP_NATIVE 1   /* in the driver */
#define STRATA_XDP_GENERIC 2  /* in the kernel, with any driver */
#define STRATA_XDP_HARDWARE 3 /* on the network card; for own programs only */

/* A filter for frames. A member that is -1 or NULL matches every frame. */
typedef struct strata_xdp_filter {
  size_t size;       /* sizeof(strata_xdp_filter) */
  int32_t ethertype; /* behind all VLAN tags */
  int32_t vlan_id;   /* of the outermost tag */
  int32_t udp_port;
  const uint8_t* destination; /* a MAC address */
} strata_xdp_filter;

/* Sets the size and a filter that matches every frame. */
void strata_xdp_filter_defaults(strata_xdp_filter* filter);

/* Returns this process's program on an interface, attaching it if necessary. It is attached as long
 * as a handle or a route holds it, and no longer than the process lives. `mode` is
 * STRATA_XDP_AUTOMATIC, _NATIVE or _GENERIC. -EBUSY if another program is attached, which
 * strata_last_error() names; -EPERM without CAP_NET_ADMIN and CAP_BPF. */
int strata_xdp_program_attach(const char* interface_name, int mode, strata_xdp_program** attached);
/* Frees the handle; the program stays as long as another handle or a route holds it. */
void strata_xdp_program_close(strata_xdp_program* program);
/* Returns 1 if the program runs in the driver, 0 if in the kernel's generic hook. */
int strata_xdp_program_is_native(const strata_xdp_program* program);
/* Redirects the frames that match `filter` (NULL: all) on the socket's queue to the socket. -EEXIST
 * if another socket has this filter. */
int strata_xdp_route_add(strata_xdp_program* program, const strata_xdp_filter* filter,
                         const strata_xdp_socket* socket, strata_xdp_route** added);
/* Closes the route: the filter's frames go to the kernel again. */
void strata_xdp_route_close(strata_xdp_route* route);

/* --- the caller's own program, loaded by libbpf or by hand, and the XSKMAP by which it redirects
 */

/* An attached program of the caller's own. */
typedef struct strata_xdp_own_program strata_xdp_own_program;

/* Attaches the program `program_fd`, which stays the caller's, until the handle is closed or the
 * process ends. `mode` is STRATA_XDP_AUTOMATIC, _NATIVE, _GENERIC or _HARDWARE. -EBUSY if another
 * program is attached, -EOPNOTSUPP for a mode that the driver lacks, -EINVAL or -EBADF if it is no
 * XDP program. */
int strata_xdp_own_program_attach(const char* interface_name, int program_fd, int mode,
                                  strata_xdp_own_program** attached);
/* Detaches the program and frees the handle; the descriptor stays open. */
void strata_xdp_own_program_close(strata_xdp_own_program* program);
/* Returns STRATA_XDP_NATIVE, _GENERIC or _HARDWARE. */
int strata_xdp_own_program_mode(const strata_xdp_own_program* program);
/* Sets an entry of an XSKMAP to the socket: the entry `key`, or that of the socket's queue if it is
 * -1. The kernel removes the entry when the socket closes. */
int strata_xdp_socket_enter_in_map(const strata_xdp_socket* socket, int map_fd, int64_t key);

/* --- ports: frames instead of rings, with their own UMEM, socket and program */

/* A queue of an interface, with everything that it needs. */
typedef struct strata_xdp_port strata_xdp_port;

/* Options of strata_xdp_port_open; a NULL member means its defaults. */
typedef struct strata_xdp_port_options {
  size_t size;                             /* sizeof(strata_xdp_port_options) */
  int attach_mode;                         /* as for strata_xdp_program_attach */
  const strata_xdp_filter* filter;         /* or NULL: all frames */
  const strata_xdp_umem_options* memory;   /* or NULL */
  const strata_xdp_socket_options* socket; /* or NULL; a receive_size of 0: only sends */
} strata_xdp_port_options;

/* Opens a port on a queue; `options` may be NULL. Errors: those of strata_xdp_socket_open and
 * strata_xdp_program_attach. */
int strata_xdp_port_open(const char* interface_name, uint32_t queue,
                         const strata_xdp_port_options* options, strata_xdp_port** port);
/* As strata_xdp_port_open, for a process without privileges: the daemon that listens at
 * `daemon_socket` (NULL: $STRATA_BROKER_SOCKET, or /run/strata/broker.sock) creates the socket, if
 * its policy allows. -EPERM if not, -EOPNOTSUPP before Linux 6.4. */
int strata_xdp_port_open_through_daemon(const char* daemon_socket, const char* interface_name,
                                        uint32_t queue, const strata_xdp_port_options* options,
                                        strata_xdp_port** port);
/* As strata_xdp_port_open_through_daemon, but returns the rings. The socket and its UMEM are two
 * handles, to be closed in any order; the program is the daemon's, and is removed with the socket.
 */
int strata_xdp_socket_open_through_daemon(const char* daemon_socket, const char* interface_name,
                                          uint32_t queue, const strata_xdp_port_options* options,
                                          strata_xdp_umem** memory, strata_xdp_socket** socket);
/* Closes the port and frees the handle and its memory. */
void strata_xdp_port_close(strata_xdp_port* port);
/* Returns the descriptor to poll; it stays the port's. */
int strata_xdp_port_fd(const strata_xdp_port* port);
/* Returns 1 or 0 for the mode that the kernel chose. */
int strata_xdp_port_is_zerocopy(const strata_xdp_port* port);
/* Returns 1 if the program runs in the driver, else 0, or -ENOENT if the port only sends. */
int strata_xdp_port_is_native(const strata_xdp_port* port);
/* Copies up to `count` frames into the UMEM and writes how many were accepted to `sent`. -EINVAL
 * for a frame longer than a chunk. With a count of 0 it pushes frames that an earlier call left
 * behind. */
int strata_xdp_port_send(strata_xdp_port* port, const struct iovec* frames, size_t count,
                         size_t* sent);
/* Points up to `count` frames to received frames, valid until the next call, and writes how many.
 * Waits for the first frame for up to `timeout_ms` (0: does not wait, -1: forever); no frame is no
 * error. */
int strata_xdp_port_receive(strata_xdp_port* port, struct iovec* frames, size_t count,
                            int timeout_ms, size_t* received);
/* Waits until the kernel has sent all frames, for at most `timeout_ms` (0: does not wait, -1:
 * forever). -ETIMEDOUT if it has not. */
int strata_xdp_port_flush(strata_xdp_port* port, int timeout_ms);
/* Writes the kernel's counters to `counted`. */
int strata_xdp_port_statistics(const strata_xdp_port* port, strata_xdp_statistics* counted);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif
