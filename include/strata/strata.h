/* The C ABI of the strata library: Ethernet frames and raw sockets, for C and for bindings of other
 * languages. Link with libstrata-c.
 *
 * Functions that can fail return 0 or a negative errno; strata_last_error() then returns a
 * sentence. Handles are opaque; closing NULL is harmless. A handle belongs to one thread at a time.
 * Structures that may grow begin with their size, which the caller sets to sizeof. Sizes are in
 * bytes. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* C has no other way to name a type. */
/* NOLINTBEGIN(modernize-use-using) */

#define STRATA_MAX_VLAN_TAGS 4  /* per frame */
#define STRATA_MAC_TEXT_SIZE 18 /* including the NUL */
#define STRATA_DEFAULT_MTU 1500 /* of Ethernet, bytes */

/* Returns what the last failed call of this thread could not do, why, and the remedy; valid until
 * the next failed call of this thread. Never NULL. */
const char* strata_last_error(void);

/* "1.2.3" */
const char* strata_version(void);

/* Parses "aa:bb:cc:dd:ee:ff", with ':' or '-'. -EINVAL if it is no MAC address. */
int strata_mac_parse(const char* text, uint8_t mac[6]);
/* Writes STRATA_MAC_TEXT_SIZE characters. */
void strata_mac_format(const uint8_t mac[6], char* text);

/* A tag of IEEE 802.1Q. */
typedef struct strata_vlan_tag {
  uint16_t tpid;    /* 0x8100 (802.1Q) or 0x88a8 (802.1ad); when written, 0 means 0x8100 */
  uint16_t vlan_id; /* VID, 0 to 4094 */
  uint8_t priority; /* PCP, 0 to 7 */
  uint8_t dei;      /* drop eligible: 0 or 1 */
} strata_vlan_tag;

/* An Ethernet frame to build, or a parsed one. */
typedef struct strata_frame {
  uint8_t destination[6];
  uint8_t source[6];
  /* An EtherType from 0x0600 on; or -1 for an 802.3 frame, whose length is that of its payload. */
  int32_t ethertype;
  uint32_t tag_count;
  strata_vlan_tag tags[STRATA_MAX_VLAN_TAGS]; /* outermost first */
  const void* payload;                        /* the caller's */
  size_t payload_size;
} strata_frame;

/* Writes the frame to `memory`, padded to 60 bytes, and its size to `built`. -EINVAL for an
 * impossible field, -EMSGSIZE if the payload exceeds `mtu` or the frame exceeds `size`. */
int strata_frame_build(const strata_frame* frame, size_t mtu, void* memory, size_t size,
                       size_t* built);
/* Parses a frame; `payload` points into `bytes`. -EBADMSG if the frame ends within its header. */
int strata_frame_parse(const void* bytes, size_t size, strata_frame* frame);

/* An AF_PACKET socket. */
typedef struct strata_raw_socket strata_raw_socket;

/* Options of strata_raw_socket_open; strata_raw_socket_defaults initializes them. */
typedef struct strata_raw_socket_options {
  size_t size;           /* sizeof(strata_raw_socket_options) */
  int32_t ethertype;     /* receive only this EtherType, behind all tags; -1: all */
  int32_t vlan_id;       /* receive only this VID; -1: all */
  uint8_t send_only;     /* receive nothing */
  uint8_t hear_outgoing; /* also receive frames that this machine sends */
  uint8_t promiscuous;
  uint8_t qdisc_bypass;
  uint8_t timestamps; /* by the kernel, in nanoseconds */
  /* The group of sockets that share incoming frames (PACKET_FANOUT), 0 to 65535; -1: none. */
  int32_t fanout_group;
  uint8_t fanout_mode;      /* STRATA_FANOUT_… */
  int8_t priority;          /* SO_PRIORITY, 0 to 7; -1: the kernel's default */
  uint32_t receive_buffer;  /* bytes; 0: the kernel's default */
  uint32_t send_buffer;     /* likewise */
  const uint8_t* multicast; /* `multicast_count` MAC addresses in sequence */
  size_t multicast_count;   /* number of groups to join */
} strata_raw_socket_options;

#define STRATA_FANOUT_HASH 0         /* all frames of a flow to one socket */
#define STRATA_FANOUT_LOAD_BALANCE 1 /* round robin */
#define STRATA_FANOUT_CPU 2          /* by the processor that received the frame */
#define STRATA_FANOUT_ROLLOVER 3     /* to the next socket when one is full */
#define STRATA_FANOUT_RANDOM 4       /* at random */
#define STRATA_FANOUT_QUEUE 5        /* by the card's queue */

/* Sets the size and all defaults: receive all frames, except outgoing ones. */
void strata_raw_socket_defaults(strata_raw_socket_options* options);

/* Opens an AF_PACKET socket bound to the interface; `options` may be NULL. -ENODEV if there is no
 * such interface, -EPERM without CAP_NET_RAW. */
int strata_raw_socket_open(const char* interface_name, const strata_raw_socket_options* options,
                           strata_raw_socket** socket);
/* As strata_raw_socket_open, for a process without privileges: the daemon that listens at
 * `daemon_socket` (NULL: $STRATA_BROKER_SOCKET, or /run/strata/broker.sock) creates the socket.
 * -EPERM if its policy forbids it. */
int strata_raw_socket_open_through_daemon(const char* daemon_socket, const char* interface_name,
                                          const strata_raw_socket_options* options,
                                          strata_raw_socket** socket);
/* Closes the socket and frees the handle. */
void strata_raw_socket_close(strata_raw_socket* socket);

/* Returns the descriptor to poll; it stays the socket's. */
int strata_raw_socket_fd(const strata_raw_socket* socket);
/* Writes the interface's MAC address, as it was when the socket was opened, to `mac`. */
void strata_raw_socket_mac(const strata_raw_socket* socket, uint8_t mac[6]);
/* Returns the interface's MTU in bytes, as it was when the socket was opened: the largest payload
 * of a frame. */
uint32_t strata_raw_socket_mtu(const strata_raw_socket* socket);

/* Sends one frame, waiting for room. -EMSGSIZE above the MTU, -ENETDOWN, -ENODEV. */
int strata_raw_socket_send(strata_raw_socket* socket, const void* frame, size_t size);
/* Sends frames without waiting and writes how many were accepted to `sent`; 0 if there is no room.
 */
int strata_raw_socket_send_batch(strata_raw_socket* socket, const struct iovec* frames,
                                 size_t count, size_t* sent);

/* A received frame. */
typedef struct strata_received {
  const void* bytes; /* within the caller's memory, with all VLAN tags */
  size_t size;
  size_t wire_size; /* greater than `size` if the frame was truncated */
  uint64_t time_ns; /* since 1970, or 0 */
} strata_received;

/* Waits up to `timeout_ms` (-1: forever) for a frame. `memory` must have four bytes more than the
 * largest frame. -ETIMEDOUT, -ENETDOWN once each time the link goes down, -ENODEV. */
int strata_raw_socket_receive(strata_raw_socket* socket, void* memory, size_t size, int timeout_ms,
                              strata_received* received);

/* Writes how many frames the filter accepted, and how many of these were lost because the receiver
 * was too slow. */
int strata_raw_socket_statistics(strata_raw_socket* socket, uint64_t* received, uint64_t* dropped);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif
