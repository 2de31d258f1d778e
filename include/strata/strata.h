/* The C ABI of the strata library: Ethernet frames and raw sockets, for C and for other languages'
 * bindings. Link with libstrata-c.
 *
 * Functions that can fail return 0 or a negative errno; strata_last_error() then gives a sentence.
 * Handles are opaque; NULL is harmless to close. A handle belongs to one thread at a time.
 * Structures that may grow begin with their size, which their users set to sizeof. Sizes are in
 * bytes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* C has no other way to name a type. */
/* NOLINTBEGIN(modernize-use-using) */

#define STRATA_MAX_VLAN_TAGS 4  /* of one frame */
#define STRATA_MAC_TEXT_SIZE 18 /* with its final NUL */
#define STRATA_DEFAULT_MTU 1500 /* of Ethernet, bytes */

/* What the last failed call of this thread could not do, why, and what to do; valid until the next
 * failed call of this thread. Never NULL. */
const char* strata_last_error(void);

/* "1.2.3" */
const char* strata_version(void);

/* "aa:bb:cc:dd:ee:ff" or with '-'. -EINVAL when it is no MAC address. */
int strata_mac_parse(const char* text, uint8_t mac[6]);
/* Writes STRATA_MAC_TEXT_SIZE characters. */
void strata_mac_format(const uint8_t mac[6], char* text);

/* A tag of IEEE 802.1Q. */
typedef struct strata_vlan_tag {
  uint16_t tpid;    /* 0x8100 (802.1Q) or 0x88a8 (802.1ad); 0 is 0x8100 where a tag is written */
  uint16_t vlan_id; /* VID, 0 to 4094 */
  uint8_t priority; /* PCP, 0 to 7 */
  uint8_t dei;      /* drop eligible: 0 or 1 */
} strata_vlan_tag;

/* An Ethernet frame, to be built or as it was parsed. */
typedef struct strata_frame {
  uint8_t destination[6];
  uint8_t source[6];
  /* An EtherType from 0x0600 on; or -1 for an 802.3 frame, whose length is that of its payload. */
  int32_t ethertype;
  uint32_t tag_count;
  strata_vlan_tag tags[STRATA_MAX_VLAN_TAGS]; /* outermost first */
  const void* payload;                        /* stays its owner's */
  size_t payload_size;
} strata_frame;

/* Writes the frame to `memory`, padded to 60 bytes, and its size to `built`. -EINVAL when a field
 * cannot be right, -EMSGSIZE when the payload is above `mtu` or the frame above `size`. */
int strata_frame_build(const strata_frame* frame, size_t mtu, void* memory, size_t size,
                       size_t* built);
/* Reads a frame; `payload` points into `bytes`. -EBADMSG when it ends within its header. */
int strata_frame_parse(const void* bytes, size_t size, strata_frame* frame);

/* An AF_PACKET socket. */
typedef struct strata_raw_socket strata_raw_socket;

/* Of strata_raw_socket_open; strata_raw_socket_defaults sets them up. */
typedef struct strata_raw_socket_options {
  size_t size;           /* sizeof(strata_raw_socket_options) */
  int32_t ethertype;     /* take only this, behind all tags; -1 takes all */
  int32_t vlan_id;       /* take only this VID; -1 takes all */
  uint8_t send_only;     /* receive nothing */
  uint8_t hear_outgoing; /* also see what this machine sends */
  uint8_t promiscuous;
  uint8_t qdisc_bypass;
  uint8_t timestamps; /* of the kernel, in nanoseconds */
  /* Several sockets that share what comes (PACKET_FANOUT): a group, 0 to 65535; -1: none. */
  int32_t fanout_group;
  uint8_t fanout_mode;      /* STRATA_FANOUT_… */
  int8_t priority;          /* SO_PRIORITY, 0 to 7; -1: the kernel's own */
  uint32_t receive_buffer;  /* bytes; 0: the kernel's own */
  uint32_t send_buffer;     /* likewise */
  const uint8_t* multicast; /* `multicast_count` MAC addresses, one behind the other */
  size_t multicast_count;   /* groups to be a member of */
} strata_raw_socket_options;

#define STRATA_FANOUT_HASH 0         /* frames of a flow go to one socket */
#define STRATA_FANOUT_LOAD_BALANCE 1 /* in turns */
#define STRATA_FANOUT_CPU 2          /* by the processor that they came on */
#define STRATA_FANOUT_ROLLOVER 3     /* to the next when one is full */
#define STRATA_FANOUT_RANDOM 4       /* by chance */
#define STRATA_FANOUT_QUEUE 5        /* by the card's queue */

/* Sets the size and all defaults: take all, hear nothing outgoing. */
void strata_raw_socket_defaults(strata_raw_socket_options* options);

/* Opens an AF_PACKET socket bound to the interface; `options` may be NULL. -ENODEV when there is no
 * such interface, -EPERM without CAP_NET_RAW. */
int strata_raw_socket_open(const char* interface_name, const strata_raw_socket_options* options,
                           strata_raw_socket** socket);
/* The same for a process without privileges: made by the daemon that listens at `daemon_socket`
 * (NULL: $STRATA_BROKER_SOCKET, or /run/strata/broker.sock). -EPERM when its policy forbids it. */
int strata_raw_socket_open_through_daemon(const char* daemon_socket, const char* interface_name,
                                          const strata_raw_socket_options* options,
                                          strata_raw_socket** socket);
/* Closes the socket and frees the handle. */
void strata_raw_socket_close(strata_raw_socket* socket);

/* To poll; stays the socket's. */
int strata_raw_socket_fd(const strata_raw_socket* socket);
/* The interface's MAC address, as it was when the socket was opened. */
void strata_raw_socket_mac(const strata_raw_socket* socket, uint8_t mac[6]);
/* The interface's MTU in bytes, as it was then: the largest payload of a frame. */
uint32_t strata_raw_socket_mtu(const strata_raw_socket* socket);

/* Sends one frame, waiting for room. -EMSGSIZE above the MTU, -ENETDOWN, -ENODEV. */
int strata_raw_socket_send(strata_raw_socket* socket, const void* frame, size_t size);
/* Sends frames without waiting and writes how many were taken to `sent`; 0 when there is no room.
 */
int strata_raw_socket_send_batch(strata_raw_socket* socket, const struct iovec* frames,
                                 size_t count, size_t* sent);

/* A frame that came. */
typedef struct strata_received {
  const void* bytes; /* within the memory that was given, with all VLAN tags */
  size_t size;
  size_t wire_size; /* above `size` when the frame was cut */
  uint64_t time_ns; /* since 1970, or 0 */
} strata_received;

/* Waits up to `timeout_ms` (-1: for ever) for a frame. `memory` is to have four bytes more than the
 * largest frame. -ETIMEDOUT, -ENETDOWN once for each time the link goes down, -ENODEV. */
int strata_raw_socket_receive(strata_raw_socket* socket, void* memory, size_t size, int timeout_ms,
                              strata_received* received);

/* Frames accepted by the filter, and those of them lost since the receiver was too slow. */
int strata_raw_socket_statistics(strata_raw_socket* socket, uint64_t* received, uint64_t* dropped);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif
