/* The C ABI of the strata library's AF_XDP part. Link with libstrata-c. The rules of strata.h hold:
 * 0 or a negative errno, strata_last_error() for the sentence, opaque handles, NULL is harmless to
 * close, structures with `size` first are set up by their _defaults function.
 *
 * A handle belongs to one thread at a time, but different rings of one socket may be used by
 * different threads. Sockets of one UMEM on one queue have one fill and one completion ring, which
 * one thread at a time may use. Opening and closing sockets of one UMEM is for one thread at a
 * time. What takes a const handle and is no ring's may be called by any thread. Linux 6.1 or newer.
 * Source: Documentation/networking/af_xdp.rst.
 */
#pragma once

#include <strata/strata.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using) */

/* --- UMEM: the memory whose frames sockets send from and receive into */

/* Memory that is divided into frames and shared with the kernel. */
typedef struct strata_xdp_umem strata_xdp_umem;

/* Of strata_xdp_umem_create; strata_xdp_umem_defaults sets them up. */
typedef struct strata_xdp_umem_options {
  size_t size; /* sizeof(strata_xdp_umem_options) */
  uint32_t frame_count;
  uint32_t frame_size; /* bytes: 2048 or 4096; with `unaligned` any size between them */
  uint32_t headroom;   /* bytes free in front of received frames, beside the kernel's 256 */
  uint8_t unaligned;
  uint8_t huge_pages;
} strata_xdp_umem_options;

/* 4096 frames of 4096 bytes. */
void strata_xdp_umem_defaults(strata_xdp_umem_options* options);
/* `options` may be NULL. -EINVAL for a size that the kernel would refuse. */
int strata_xdp_umem_create(const strata_xdp_umem_options* options, strata_xdp_umem** created);
/* The same over memory of the caller's, `size` bytes from a page's beginning on. It stays there,
 * and the caller's, until `released` is called with `context`, in the thread that closes the last
 * socket or the UMEM, whichever comes last; `released` may be NULL. -EINVAL for memory that does
 * not begin with a page, or is too small. Linux 6.5 or newer takes no shared mapping of a file on a
 * disk: strata_xdp_socket_open gives -EFAULT then; files of tmpfs and hugetlbfs are taken. */
int strata_xdp_umem_create_over(void* memory, size_t size, const strata_xdp_umem_options* options,
                                void (*released)(void* context), void* context,
                                strata_xdp_umem** created);
/* Gives the handle up; the memory goes with the last socket that uses it. */
void strata_xdp_umem_close(strata_xdp_umem* umem);
/* The memory, page-aligned; `size` (may be NULL) becomes its size in bytes. It stays the UMEM's. */
void* strata_xdp_umem_memory(const strata_xdp_umem* umem, size_t* size);
/* The beginning of the frame that an address of a ring is in, to be used again. */
uint64_t strata_xdp_umem_frame_of(const strata_xdp_umem* umem, uint64_t address);
/* Where in the memory an address of a ring is: with unaligned frames they are not the same. */
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

/* The frame goes on in the next descriptor. */
#define STRATA_XDP_CONTINUES 1

#define STRATA_XDP_AUTOMATIC 0 /* the best that there is */
#define STRATA_XDP_COPY 1      /* frames are copied */
#define STRATA_XDP_ZEROCOPY 2  /* the card uses the UMEM itself */

/* Of strata_xdp_socket_open; strata_xdp_socket_defaults sets them up. */
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

/* Rings of 2048, need_wakeup, 500 ms for a queue that is held. */
void strata_xdp_socket_defaults(strata_xdp_socket_options* options);
/* Binds to a queue; `options` may be NULL. Sockets of one UMEM on one queue share its fill and
 * completion ring. -ENODEV when there is no such interface, -EPERM without CAP_NET_RAW, -EBUSY when
 * another holds the queue, -EOPNOTSUPP for a mode that the driver lacks, -ENOBUFS when more memory
 * would be locked than allowed. */
int strata_xdp_socket_open(strata_xdp_umem* memory, const char* interface_name, uint32_t queue,
                           const strata_xdp_socket_options* options, strata_xdp_socket** socket);
/* Closes the socket and frees the handle; its UMEM stays. */
void strata_xdp_socket_close(strata_xdp_socket* socket);
/* To poll; stays the socket's. */
int strata_xdp_socket_fd(const strata_xdp_socket* socket);
/* 1 or 0: the mode that the kernel chose. */
int strata_xdp_socket_is_zerocopy(const strata_xdp_socket* socket);
/* 1 or 0, or -EAGAIN before the first frame came: whether busy polling has an effect. */
int strata_xdp_socket_is_busy_polled(const strata_xdp_socket* socket);

/* Each moves up to `count` entries and returns how many. `which` must be open, the array have room.
 * None allocates or waits. */
uint32_t strata_xdp_fill(strata_xdp_socket* socket, const uint64_t* addresses, uint32_t count);
/* Takes back frames that were sent: their addresses in the UMEM. */
uint32_t strata_xdp_complete(strata_xdp_socket* socket, uint64_t* addresses, uint32_t count);
/* Takes frames that came. */
uint32_t strata_xdp_receive(strata_xdp_socket* socket, strata_xdp_descriptor* descriptors,
                            uint32_t count);
/* Gives the kernel frames to send. */
uint32_t strata_xdp_transmit(strata_xdp_socket* socket, const strata_xdp_descriptor* descriptors,
                             uint32_t count);
/* Free places in the fill and transmit ring: up to `most` of them. */
uint32_t strata_xdp_fill_room(strata_xdp_socket* socket, uint32_t most);
/* As strata_xdp_fill_room, of the transmit ring. */
uint32_t strata_xdp_transmit_room(strata_xdp_socket* socket, uint32_t most);

/* 1 when the kernel waits for the matching strata_xdp_wake_. */
int strata_xdp_fill_needs_wakeup(const strata_xdp_socket* socket);
/* As strata_xdp_fill_needs_wakeup, of the transmit ring. */
int strata_xdp_transmit_needs_wakeup(const strata_xdp_socket* socket);
/* 1, or 0 when the kernel took only a part and wants to be called again; in copy mode it takes 32
 * frames a call, and needs one after each strata_xdp_transmit. */
int strata_xdp_wake_transmit(strata_xdp_socket* socket);
/* 1 when the kernel was told to look into the fill ring. */
int strata_xdp_wake_receive(strata_xdp_socket* socket);
/* 1 when there is something to receive, or more can be sent; 0 after `timeout_ms` (-1: for ever).
 */
int strata_xdp_wait_readable(const strata_xdp_socket* socket, int timeout_ms);
/* As strata_xdp_wait_readable, until the kernel takes more to send. */
int strata_xdp_wait_writable(const strata_xdp_socket* socket, int timeout_ms);

/* What the kernel counted since the socket was made. */
typedef struct strata_xdp_statistics {
  uint64_t dropped;             /* frames redirected to the socket, and lost */
  uint64_t receive_ring_full;   /* those of them for which the ring had no room */
  uint64_t fill_ring_empty;     /* looks for a frame to receive into that found none */
  uint64_t transmit_ring_empty; /* looks for something to send that found nothing */
  uint64_t invalid_receive;     /* addresses in the fill ring outside of the UMEM */
  uint64_t invalid_transmit;    /* descriptors in the transmit ring */
} strata_xdp_statistics;

/* Writes what the kernel counted to `counted`. */
int strata_xdp_socket_statistics(const strata_xdp_socket* socket, strata_xdp_statistics* counted);

/* --- the program that brings frames to sockets; all others go on to the kernel */

/* The program of an interface. */
typedef struct strata_xdp_program strata_xdp_program;
/* A filter that leads to a socket, as long as the handle is open. */
typedef struct strata_xdp_route strata_xdp_route;

#define STRATA_XDP_NATIVE 1   /* in the driver */
#define STRATA_XDP_GENERIC 2  /* in the kernel, with any driver */
#define STRATA_XDP_HARDWARE 3 /* on the network card; for one's own program only */

/* What is -1 or NULL is not asked for; all so: every frame. */
typedef struct strata_xdp_filter {
  size_t size;       /* sizeof(strata_xdp_filter) */
  int32_t ethertype; /* behind all VLAN tags */
  int32_t vlan_id;   /* of the outermost tag */
  int32_t udp_port;
  const uint8_t* destination; /* a MAC address */
} strata_xdp_filter;

/* Sets the size, and asks for nothing: every frame. */
void strata_xdp_filter_defaults(strata_xdp_filter* filter);

/* The program of an interface, which a process has once: attached as long as a handle or a route
 * holds it, and no longer than the process lives. `mode` is STRATA_XDP_AUTOMATIC, _NATIVE or
 * _GENERIC. -EBUSY when another is attached, which strata_last_error() names; -EPERM without
 * CAP_NET_ADMIN and CAP_BPF. */
int strata_xdp_program_attach(const char* interface_name, int mode, strata_xdp_program** attached);
/* Gives the handle back; the program stays as long as another handle or a route holds it. */
void strata_xdp_program_close(strata_xdp_program* program);
/* 1 when it runs in the driver, 0 in the kernel's generic hook. */
int strata_xdp_program_is_native(const strata_xdp_program* program);
/* Brings the frames that `filter` is about (NULL: all), of the socket's queue, to the socket.
 * -EEXIST when another socket has them. */
int strata_xdp_route_add(strata_xdp_program* program, const strata_xdp_filter* filter,
                         const strata_xdp_socket* socket, strata_xdp_route** added);
/* Frames of the filter go on to the kernel again. */
void strata_xdp_route_close(strata_xdp_route* route);

/* --- a program of one's own, loaded by libbpf or by hand, and the XSKMAP by which it redirects */

/* A program of one's own that is attached. */
typedef struct strata_xdp_own_program strata_xdp_own_program;

/* Attaches the program of that descriptor, which stays the caller's, until it is closed, and no
 * longer than the process lives. `mode` is STRATA_XDP_AUTOMATIC, _NATIVE, _GENERIC or _HARDWARE.
 * -EBUSY when another is attached, -EOPNOTSUPP for a mode that the driver lacks, -EINVAL or -EBADF
 * when it is no XDP program. */
int strata_xdp_own_program_attach(const char* interface_name, int program_fd, int mode,
                                  strata_xdp_own_program** attached);
/* Detaches the program and frees the handle; the descriptor stays open. */
void strata_xdp_own_program_close(strata_xdp_own_program* program);
/* STRATA_XDP_NATIVE, _GENERIC or _HARDWARE. */
int strata_xdp_own_program_mode(const strata_xdp_own_program* program);
/* Has an entry of an XSKMAP lead to the socket: `key`, or that of its queue when it is -1. The
 * kernel takes it out when the socket closes. */
int strata_xdp_socket_enter_in_map(const strata_xdp_socket* socket, int map_fd, int64_t key);

/* --- ports: frames instead of rings. UMEM, socket and program of their own. */

/* A queue of an interface, with all that it needs. */
typedef struct strata_xdp_port strata_xdp_port;

/* Of strata_xdp_port_open; what is NULL has its defaults. */
typedef struct strata_xdp_port_options {
  size_t size;                             /* sizeof(strata_xdp_port_options) */
  int attach_mode;                         /* as for strata_xdp_program_attach */
  const strata_xdp_filter* filter;         /* or NULL: all frames */
  const strata_xdp_umem_options* memory;   /* or NULL */
  const strata_xdp_socket_options* socket; /* or NULL; a receive_size of 0: only sends */
} strata_xdp_port_options;

/* Opens a port on a queue; `options` may be NULL. The errors of strata_xdp_socket_open and
 * strata_xdp_program_attach. */
int strata_xdp_port_open(const char* interface_name, uint32_t queue,
                         const strata_xdp_port_options* options, strata_xdp_port** port);
/* The same for a process without privileges: made by the daemon that listens at `daemon_socket`
 * (NULL: $STRATA_BROKER_SOCKET, or /run/strata/broker.sock), if its policy allows it. -EPERM if
 * not, -EOPNOTSUPP before Linux 6.4. */
int strata_xdp_port_open_through_daemon(const char* daemon_socket, const char* interface_name,
                                        uint32_t queue, const strata_xdp_port_options* options,
                                        strata_xdp_port** port);
/* The rings of such a port. The socket and its UMEM are two handles, to be closed in any order; the
 * program is the daemon's, and goes with the socket. */
int strata_xdp_socket_open_through_daemon(const char* daemon_socket, const char* interface_name,
                                          uint32_t queue, const strata_xdp_port_options* options,
                                          strata_xdp_umem** memory, strata_xdp_socket** socket);
/* Closes the port and frees the handle and its memory. */
void strata_xdp_port_close(strata_xdp_port* port);
/* To poll; stays the port's. */
int strata_xdp_port_fd(const strata_xdp_port* port);
/* 1 or 0: the mode that the kernel chose. */
int strata_xdp_port_is_zerocopy(const strata_xdp_port* port);
/* 1, 0, or -ENOENT when it only sends. */
int strata_xdp_port_is_native(const strata_xdp_port* port);
/* Copies up to `count` frames into the UMEM and writes how many were taken to `sent`. -EINVAL for a
 * frame longer than a chunk. With a count of 0 it pushes what an earlier call left behind. */
int strata_xdp_port_send(strata_xdp_port* port, const struct iovec* frames, size_t count,
                         size_t* sent);
/* Points up to `count` frames to what has arrived, valid until the next call, and writes how many.
 * Waits for the first for `timeout_ms` (0: not, -1: for ever); none is no error. */
int strata_xdp_port_receive(strata_xdp_port* port, struct iovec* frames, size_t count,
                            int timeout_ms, size_t* received);
/* Waits until the kernel has sent all frames, for `timeout_ms` at most (0: not, -1: for ever).
 * -ETIMEDOUT when it has not. */
int strata_xdp_port_flush(strata_xdp_port* port, int timeout_ms);
/* Writes what the kernel counted to `counted`. */
int strata_xdp_port_statistics(const strata_xdp_port* port, strata_xdp_statistics* counted);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif
