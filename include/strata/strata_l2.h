/* The C ABI of the strata library's raw Ethernet part beyond one frame at a time: VLAN tags within
 * frames, many frames a call, and rings of memory shared with the kernel. Link with libstrata-c.
 * The rules of strata.h hold: 0 or a negative errno, strata_last_error() for the sentence, opaque
 * handles, NULL is harmless to close, structures with `size` first are set up by their _defaults
 * function. A handle belongs to one thread at a time. Linux 4.20 or newer.
 */
#pragma once

#include <strata/strata.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using) */

/* --- VLAN tags within a frame (IEEE 802.1Q). strata_frame_build writes tags, and
 * strata_frame_parse reads them all; these change a frame that is there. */

/* 1 and the outermost tag, or 0 when it has none. */
int strata_frame_outer_tag(const void* frame, size_t size, strata_vlan_tag* tag);
/* Puts `tag` in as the outermost one: `memory` begins with four free bytes, and the frame of
 * `size - 4` bytes behind them; the tagged frame is all of it. -EINVAL when the priority is above
 * 7, the VID above 4094, or no whole Ethernet header is there. */
int strata_frame_push_tag(void* memory, size_t size, const strata_vlan_tag* tag);
/* Takes the outermost tag out by moving the addresses: the frame then begins `returned` bytes
 * later, 4 or, without a tag, 0. */
size_t strata_frame_pop_tag(void* frame, size_t size);

/* --- sockets: more of them */

/* Room for a frame: four bytes more than the largest. */
typedef struct strata_slot {
  void* memory;
  size_t size;
  strata_received frame; /* written by the call */
} strata_slot;

/* Fills slots, first to last, and writes how many to `received`: what is there, after a wait for
 * the first of up to `timeout_ms` (0: none, -1: for ever). None is no error. -ENETDOWN once for
 * each time that the link goes down, -ENODEV. */
int strata_raw_socket_receive_batch(strata_raw_socket* socket, strata_slot* slots, size_t count,
                                    int timeout_ms, size_t* received);

/* --- rings: what is received is read in place, in memory that the kernel writes */

/* A packet ring, with its socket. */
typedef struct strata_ring strata_ring;

/* Frames come by whole blocks, when one is full or `block_timeout_ms` has passed (TPACKET_V3): for
 * many frames. */
#define STRATA_RING_BLOCKS 0
/* Each is there at once (TPACKET_V2): for those who spin, or where one frame's delay counts. */
#define STRATA_RING_FRAMES 1

/* Of strata_ring_open; strata_ring_defaults sets them up. */
typedef struct strata_ring_options {
  size_t size;                             /* sizeof(strata_ring_options) */
  const strata_raw_socket_options* socket; /* or NULL */
  uint32_t kind;                           /* STRATA_RING_BLOCKS or STRATA_RING_FRAMES */
  uint32_t block_size;                     /* of blocks: bytes, a power of two from a page on */
  uint32_t block_count;
  uint32_t block_timeout_ms;
  uint32_t send_slots; /* of blocks: the least number of frames; 0: it cannot send */
  uint32_t slots;      /* of frames: how many there is room for */
  uint32_t frame_size; /* of frames: the largest that is not cut; 0: by the interface's MTU */
} strata_ring_options;

/* 16 blocks of 256 KiB, 1 ms, no sending; 1024 slots. */
void strata_ring_defaults(strata_ring_options* options);
/* As strata_raw_socket_open; `options` may be NULL. -EMSGSIZE when the memory is more than 1 GiB or
 * half of the machine's. */
int strata_ring_open(const char* interface_name, const strata_ring_options* options,
                     strata_ring** ring);
/* Closes the ring and frees the handle; frames that were lent are no longer valid. */
void strata_ring_close(strata_ring* ring);
/* To poll; stays the ring's. */
int strata_ring_fd(const strata_ring* ring);
/* The interface's MAC address, as it was when the ring was opened. */
void strata_ring_mac(const strata_ring* ring, uint8_t mac[6]);
/* The interface's MTU in bytes, as it was then. */
uint32_t strata_ring_mtu(const strata_ring* ring);
/* Points up to `count` frames to what has arrived, with all their tags, and writes how many. They
 * are valid, and their place in the ring is taken, until the next call. Waits for the first for
 * `timeout_ms` (0: not, -1: for ever); none is no error. With a count of 0 it only gives back what
 * is lent: until then the descriptor may poll as readable. -ENETDOWN, -ENODEV. */
int strata_ring_receive(strata_ring* ring, strata_received* frames, size_t count, int timeout_ms,
                        size_t* received);
/* Sends frames without waiting and writes how many were taken to `sent`; 0 when there is no room.
 * -EMSGSIZE above the MTU; -EINVAL when it has no place to send from. */
int strata_ring_send(strata_ring* ring, const struct iovec* frames, size_t count, size_t* sent);
/* Frames accepted by the filter, and those of them lost since the receiver was too slow. */
int strata_ring_statistics(strata_ring* ring, uint64_t* received, uint64_t* dropped);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif
