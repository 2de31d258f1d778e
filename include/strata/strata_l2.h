/* The C ABI of the strata library's raw Ethernet part beyond one frame at a time: VLAN tags within
 * frames, many frames per call, and rings of memory shared with the kernel. Link with libstrata-c.
 * The rules of strata.h apply: functions return 0 or a negative errno, strata_last_error() returns
 * the sentence, handles are opaque, closing NULL is harmless, and structures that begin with `size`
 * are initialized by their _defaults function. A handle belongs to one thread at a time. Linux 4.20
 * or newer. */
#pragma once

#include <strata/strata.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using) */

/* --- VLAN tags within a frame (IEEE 802.1Q). strata_frame_build writes tags, and
 * strata_frame_parse reads all of them; these functions change an existing frame. */

/* Returns 1 and the outermost tag, or 0 if the frame has none. */
int strata_frame_outer_tag(const void* frame, size_t size, strata_vlan_tag* tag);
/* Inserts `tag` as the outermost one: `memory` begins with four free bytes, followed by the frame
 * of `size - 4` bytes; the tagged frame is all of it. -EINVAL if the priority is above 7, the VID
 * is above 4094, or there is no whole Ethernet header. */
int strata_frame_push_tag(void* memory, size_t size, const strata_vlan_tag* tag);
/* Removes the outermost tag by moving the addresses, and returns how many bytes later the frame
 * then begins: 4, or 0 without a tag. */
size_t strata_frame_pop_tag(void* frame, size_t size);

/* --- sockets: further functions */

/* Memory for a frame: four bytes more than the largest frame. */
typedef struct strata_slot {
  void* memory;
  size_t size;
  strata_received frame; /* written by the call */
} strata_slot;

/* Fills slots in order with the available frames, and writes how many to `received`. Waits for the
 * first frame for up to `timeout_ms` (0: does not wait, -1: forever). No frame is no error.
 * -ENETDOWN once each time the link goes down, -ENODEV. */
int strata_raw_socket_receive_batch(strata_raw_socket* socket, strata_slot* slots, size_t count,
                                    int timeout_ms, size_t* received);

/* --- rings: received frames are read in place, in memory that the kernel writes */

/* A packet ring and its socket. */
typedef struct strata_ring strata_ring;

/* Frames arrive in whole blocks, when one is full or `block_timeout_ms` has passed (TPACKET_V3):
 * for many frames. */
#define STRATA_RING_BLOCKS 0
/* Each frame is available at once (TPACKET_V2): for busy polling, or where one frame's delay
 * counts. */
#define STRATA_RING_FRAMES 1

/* Options of strata_ring_open; strata_ring_defaults initializes them. */
typedef struct strata_ring_options {
  size_t size;                             /* sizeof(strata_ring_options) */
  const strata_raw_socket_options* socket; /* or NULL */
  uint32_t kind;                           /* STRATA_RING_BLOCKS or STRATA_RING_FRAMES */
  uint32_t block_size;                     /* for blocks: bytes, a power of two from a page on */
  uint32_t block_count;
  uint32_t block_timeout_ms;
  uint32_t send_slots; /* for blocks: the least number of frames; 0: no sending */
  uint32_t slots;      /* for frames: the number of slots */
  uint32_t frame_size; /* for frames: the largest that is not truncated; 0: by the MTU */
} strata_ring_options;

/* 16 blocks of 256 KiB, 1 ms, no sending; 1024 slots. */
void strata_ring_defaults(strata_ring_options* options);
/* As strata_raw_socket_open; `options` may be NULL. -EMSGSIZE if the memory exceeds 1 GiB or half
 * of the machine's. */
int strata_ring_open(const char* interface_name, const strata_ring_options* options,
                     strata_ring** ring);
/* Closes the ring and frees the handle; frames that it returned become invalid. */
void strata_ring_close(strata_ring* ring);
/* Returns the descriptor to poll; it stays the ring's. */
int strata_ring_fd(const strata_ring* ring);
/* Writes the interface's MAC address, as it was when the ring was opened, to `mac`. */
void strata_ring_mac(const strata_ring* ring, uint8_t mac[6]);
/* Returns the interface's MTU in bytes, as it was when the ring was opened. */
uint32_t strata_ring_mtu(const strata_ring* ring);
/* Points up to `count` frames to received frames, with all their tags, and writes how many. They
 * are valid, and occupy their place in the ring, until the next call. Waits for the first frame for
 * up to `timeout_ms` (0: does not wait, -1: forever); no frame is no error. With a count of 0 it
 * only gives back the frames of the last call: until then the descriptor may poll as readable.
 * -ENETDOWN, -ENODEV. */
int strata_ring_receive(strata_ring* ring, strata_received* frames, size_t count, int timeout_ms,
                        size_t* received);
/* Sends frames without waiting and writes how many were accepted to `sent`; 0 if there is no room.
 * -EMSGSIZE above the MTU; -EINVAL if the ring cannot send. */
int strata_ring_send(strata_ring* ring, const struct iovec* frames, size_t count, size_t* sent);
/* Writes how many frames the filter accepted, and how many of these were lost because the receiver
 * was too slow. */
int strata_ring_statistics(strata_ring* ring, uint64_t* received, uint64_t* dropped);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif
