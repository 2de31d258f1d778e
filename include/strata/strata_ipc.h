/* The C ABI of the strata library's messages over raw Ethernet: channels between processes, and
 * hybrids of TCP and Ethernet. Link with libstrata-c. The rules of strata.h hold: 0 or a negative
 * errno, strata_last_error() for the sentence, opaque handles, NULL is harmless to close,
 * structures with `size` first are set up by their _defaults function. A handle belongs to one
 * thread at a time. Needs CAP_NET_RAW. Linux 4.20 or newer.
 */
#pragma once

#include <strata/strata.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using) */

/* --- channels: all that open the same name on the same interface hear each other. Unacknowledged,
 * any number: each message goes to all others, and a slow one loses some. Acknowledged, exactly
 * two: each message arrives once and in order. */

/* An endpoint of a channel. */
typedef struct strata_channel strata_channel;

/* Of strata_channel_open; strata_channel_defaults sets them up. */
typedef struct strata_channel_options {
  size_t size;                /* sizeof(strata_channel_options) */
  const char* interface_name; /* "lo": between processes of this machine */
  const char* name;
  uint16_t ethertype;
  uint8_t acknowledged;
  size_t max_message;    /* bytes; both ends should agree */
  size_t send_buffer;    /* of frames that wait to be sent, or acknowledged */
  size_t receive_buffer; /* of frames that the kernel keeps */
  uint32_t max_delay_us; /* the longest that a posted message waits for others */
  uint32_t send_timeout_ms;
  uint32_t peer_timeout_ms; /* acknowledged: a peer that says nothing for this time is gone */
} strata_channel_options;

/* "lo", "default", 0xaaaa, unacknowledged, 1 MiB, 4 MiB, 8 MiB, 100 us, 5 s, 5 s. */
void strata_channel_defaults(strata_channel_options* options);
/* `options` may be NULL. -ENODEV, -EPERM, -EINVAL for a limit that cannot be right. */
int strata_channel_open(const strata_channel_options* options, strata_channel** channel);
/* Sends what was posted, if there is room, and tells the peer. */
void strata_channel_close(strata_channel* channel);

/* Sends a message at once, waiting for room for up to `send_timeout_ms`. -EMSGSIZE above
 * `max_message`, -ETIMEDOUT, -ENETDOWN, -ECONNRESET when the peer is gone, which is told once. */
int strata_channel_send(strata_channel* channel, const void* message, size_t size);
/* Leaves it to go together with others: with a flush, when they fill frames, or at a turn after
 * `max_delay_us`. 1, or 0 when there is no room now. */
int strata_channel_post(strata_channel* channel, const void* message, size_t size);
/* Sends what was posted, as far as there is room; the rest goes with later calls. */
int strata_channel_flush(strata_channel* channel);
/* Waits until all is sent, and, acknowledged, has arrived. -ETIMEDOUT. */
int strata_channel_finish(strata_channel* channel, int timeout_ms);

/* A message that came. */
typedef struct strata_message {
  const void* bytes; /* valid until the next call with the channel */
  size_t size;
  uint64_t sender; /* an endpoint's random number; 0 where the call had to wait */
} strata_message;

/* 1 and the next message, or 0 when none has come in `timeout_ms` (0: does not wait, -1: waits for
 * ever). -ECONNRESET once when the peer is gone; -ENETDOWN. */
int strata_channel_receive(strata_channel* channel, int timeout_ms, strata_message* received);

/* For a loop of one's own: call `turn` when the descriptor is readable, when it is writable if the
 * channel wants that, and at the deadline; then receive until there is nothing. */
int strata_channel_turn(strata_channel* channel);
/* To poll; stays the channel's. */
int strata_channel_fd(const strata_channel* channel);
/* 1 when `turn` is to be called once the descriptor is writable, else 0. */
int strata_channel_wants_to_write(const strata_channel* channel);
/* Microseconds until the deadline, 0 when it has passed, or -1 when there is none. */
int64_t strata_channel_deadline_us(const strata_channel* channel);

/* 1 or 0: acknowledged, the two ends have found each other. */
int strata_channel_has_peer(const strata_channel* channel);
/* The endpoint's random number, which its peers are given as `sender`. */
uint64_t strata_channel_id(const strata_channel* channel);

/* What a channel counted since it was opened. */
typedef struct strata_channel_statistics {
  size_t size; /* sizeof(strata_channel_statistics); what is beyond is not written */
  uint64_t messages_sent, frames_sent, messages_received, frames_received;
  uint64_t messages_lost, frames_lost; /* unacknowledged: known to be sent, and not received */
  uint64_t dropped;                    /* by the kernel, since this side was too slow */
  uint64_t duplicates;
  uint64_t refused;   /* frames damaged, or of a third party */
  uint64_t abandoned; /* large messages given up */
  uint64_t retransmitted;
} strata_channel_statistics;

/* -EINVAL unless `size` is set. */
int strata_channel_statistics_of(const strata_channel* channel, strata_channel_statistics* counted);

/* --- hybrids: two endpoints agree over TCP, notice each other's end by it, and send data in
 * frames, with a VLAN tag for switches. Data may be lost. Not over lo. */

/* An endpoint that is connected. */
typedef struct strata_hybrid strata_hybrid;
/* Where clients are awaited. */
typedef struct strata_hybrid_listener strata_hybrid_listener;

/* Of strata_hybrid_listen and strata_hybrid_connect; strata_hybrid_defaults sets them up. */
typedef struct strata_hybrid_options {
  size_t size; /* sizeof(strata_hybrid_options) */
  uint16_t tcp_port;
  const char* listen_address; /* numeric; NULL: all */
  uint16_t ethertype;
  int32_t vlan_id;  /* 0: only a priority; -1: no tag */
  uint8_t priority; /* PCP of the tag */
  uint32_t timeout_ms;
  uint32_t greeting_timeout_ms; /* a server's patience with one caller */
  uint32_t peer_timeout_ms;
} strata_hybrid_options;

/* Port 9000, 0x88b5, VID 10, priority 7, 30 s, 5 s, 10 s. */
void strata_hybrid_defaults(strata_hybrid_options* options);
/* Listens on the port (0: a free one). `options` may be NULL. -ENODEV, -EPERM, -EADDRINUSE. */
int strata_hybrid_listen(const char* interface_name, const strata_hybrid_options* options,
                         strata_hybrid_listener** listener);
/* Endpoints that were accepted stay open. */
void strata_hybrid_listener_close(strata_hybrid_listener* listener);
/* The TCP port that it listens on, also when 0 was asked for. */
uint16_t strata_hybrid_listener_port(const strata_hybrid_listener* listener);
/* To poll; stays the listener's. */
int strata_hybrid_listener_fd(const strata_hybrid_listener* listener);
/* Waits for a client for up to `timeout_ms` of the options. -ETIMEDOUT. */
int strata_hybrid_accept(strata_hybrid_listener* listener, strata_hybrid** endpoint);
/* `host` is a numeric address. Tries until the server is there, for up to `timeout_ms`.
 * -ETIMEDOUT, -EBUSY when it uses another EtherType or VLAN. */
int strata_hybrid_connect(const char* interface_name, const char* host,
                          const strata_hybrid_options* options, strata_hybrid** endpoint);
/* Closes the connection, by which the peer notices it, and frees the handle. */
void strata_hybrid_close(strata_hybrid* endpoint);

/* One message, in one frame. -EMSGSIZE above strata_hybrid_max_payload; -ECONNRESET when the peer
 * is gone. */
int strata_hybrid_send(strata_hybrid* endpoint, const void* payload, size_t size);
/* The bytes of the largest message, by the MTU. */
size_t strata_hybrid_max_payload(const strata_hybrid* endpoint);
/* The peer's MAC address. */
void strata_hybrid_peer(const strata_hybrid* endpoint, uint8_t mac[6]);

/* A message that came, and the tag that it had. */
typedef struct strata_hybrid_message {
  const void* bytes; /* valid until the next call with the endpoint */
  size_t size;
  uint8_t was_tagged;
  uint8_t priority;
  uint16_t vlan_id;
} strata_hybrid_message;

/* 1 and the next message, or 0 when none has come in `timeout_ms` (0: does not wait, -1: waits for
 * ever). -ECONNRESET when the peer is gone, after all that came from it. */
int strata_hybrid_receive(strata_hybrid* endpoint, int timeout_ms, strata_hybrid_message* received);
/* To poll both for reading; they stay the endpoint's. */
int strata_hybrid_data_fd(const strata_hybrid* endpoint);
/* As strata_hybrid_data_fd, of the TCP connection. */
int strata_hybrid_control_fd(const strata_hybrid* endpoint);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif
