/* The C ABI of the strata library's messages over raw Ethernet: channels between processes, and
 * hybrids of TCP and Ethernet. Link with libstrata-c. The rules of strata.h apply: functions return
 * 0 or a negative errno, strata_last_error() returns the sentence, handles are opaque, closing NULL
 * is harmless, and structures that begin with `size` are initialized by their _defaults function. A
 * handle belongs to one thread at a time. Needs CAP_NET_RAW. Linux 4.20 or newer. */
#pragma once

#include <strata/strata.h>

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using) */

/* --- channels: all endpoints that open the same name on the same interface receive each other's
 * messages. Unacknowledged, any number of endpoints: each message goes to all others, and a slow
 * receiver loses messages. Acknowledged, exactly two endpoints: each message arrives once and in
 * order. */

/* An endpoint of a channel. */
typedef struct strata_channel strata_channel;

/* Options of strata_channel_open; strata_channel_defaults initializes them. */
typedef struct strata_channel_options {
  size_t size;                /* sizeof(strata_channel_options) */
  const char* interface_name; /* "lo": between processes of this machine */
  const char* name;
  uint16_t ethertype;
  uint8_t acknowledged;
  size_t max_message;    /* bytes; both ends should use the same limit */
  size_t send_buffer;    /* bytes of frames that wait to be sent or acknowledged */
  size_t receive_buffer; /* bytes of frames that the kernel buffers */
  uint32_t max_delay_us; /* the longest that a posted message waits for others */
  uint32_t send_timeout_ms;
  uint32_t peer_timeout_ms; /* acknowledged: a peer silent for this time is gone */
} strata_channel_options;

/* "lo", "default", 0xaaaa, unacknowledged, 1 MiB, 4 MiB, 8 MiB, 100 us, 5 s, 5 s. */
void strata_channel_defaults(strata_channel_options* options);
/* Opens a channel; `options` may be NULL. -ENODEV, -EPERM, -EINVAL for an impossible limit. */
int strata_channel_open(const strata_channel_options* options, strata_channel** channel);
/* Sends posted messages, if there is room, notifies the peer, and frees the handle. */
void strata_channel_close(strata_channel* channel);

/* Sends a message at once, waiting for room for up to `send_timeout_ms`. -EMSGSIZE above
 * `max_message`, -ETIMEDOUT, -ENETDOWN, -ECONNRESET if the peer is gone, reported once. */
int strata_channel_send(strata_channel* channel, const void* message, size_t size);
/* Queues a message to share frames with others. It is sent with a flush, when the queued messages
 * fill frames, or at a turn after `max_delay_us`. Returns 1, or 0 if there is no room now. */
int strata_channel_post(strata_channel* channel, const void* message, size_t size);
/* Sends posted messages as far as there is room; later calls send the rest. */
int strata_channel_flush(strata_channel* channel);
/* Waits until everything is sent and, in acknowledged mode, has arrived. -ETIMEDOUT. */
int strata_channel_finish(strata_channel* channel, int timeout_ms);

/* A received message. */
typedef struct strata_message {
  const void* bytes; /* valid until the next call with the channel */
  size_t size;
  uint64_t sender; /* an endpoint's random id; 0 if the call had to wait */
} strata_message;

/* Returns 1 and the next message, or 0 if none arrives within `timeout_ms` (0: does not wait, -1:
 * waits forever). -ECONNRESET once if the peer is gone; -ENETDOWN. */
int strata_channel_receive(strata_channel* channel, int timeout_ms, strata_message* received);

/* For callers with an event loop: call `turn` when the descriptor is readable, when it is writable
 * if the channel wants to write, and at the deadline; then receive until no message is left. */
int strata_channel_turn(strata_channel* channel);
/* Returns the descriptor to poll; it stays the channel's. */
int strata_channel_fd(const strata_channel* channel);
/* Returns 1 if `turn` is to be called once the descriptor is writable, else 0. */
int strata_channel_wants_to_write(const strata_channel* channel);
/* Returns the microseconds until the deadline, 0 if it has passed, or -1 if there is none. */
int64_t strata_channel_deadline_us(const strata_channel* channel);

/* Returns 1 if, in acknowledged mode, the two ends have found each other, else 0. */
int strata_channel_has_peer(const strata_channel* channel);
/* Returns the endpoint's random id, which its peers receive as `sender`. */
uint64_t strata_channel_id(const strata_channel* channel);

/* Counters of a channel since it was opened. */
typedef struct strata_channel_statistics {
  size_t size; /* sizeof(strata_channel_statistics); nothing beyond it is written */
  uint64_t messages_sent, frames_sent, messages_received, frames_received;
  uint64_t messages_lost, frames_lost; /* unacknowledged: known to be sent, but not received */
  uint64_t dropped;                    /* by the kernel, because this side was too slow */
  uint64_t duplicates;
  uint64_t refused;   /* frames damaged, or from a third party */
  uint64_t abandoned; /* large messages given up */
  uint64_t retransmitted;
} strata_channel_statistics;

/* -EINVAL unless `size` is set. */
int strata_channel_statistics_of(const strata_channel* channel, strata_channel_statistics* counted);

/* --- hybrids: two endpoints that exchange a handshake over TCP, detect each other's end by it, and
 * send data in frames, with a VLAN tag for switches. Data may be lost. Not over lo. */

/* A connected endpoint. */
typedef struct strata_hybrid strata_hybrid;
/* A server that accepts clients. */
typedef struct strata_hybrid_listener strata_hybrid_listener;

/* Options of strata_hybrid_listen and strata_hybrid_connect; strata_hybrid_defaults initializes
 * them. */
typedef struct strata_hybrid_options {
  size_t size; /* sizeof(strata_hybrid_options) */
  uint16_t tcp_port;
  const char* listen_address; /* numeric; NULL: all */
  uint16_t ethertype;
  int32_t vlan_id;  /* 0: only a priority; -1: no tag */
  uint8_t priority; /* PCP of the tag */
  uint32_t timeout_ms;
  uint32_t greeting_timeout_ms; /* how long a server waits for one client's greeting */
  uint32_t peer_timeout_ms;
} strata_hybrid_options;

/* Port 9000, 0x88b5, VID 10, priority 7, 30 s, 5 s, 10 s. */
void strata_hybrid_defaults(strata_hybrid_options* options);
/* Listens on the port (0: a free one). `options` may be NULL. -ENODEV, -EPERM, -EADDRINUSE. */
int strata_hybrid_listen(const char* interface_name, const strata_hybrid_options* options,
                         strata_hybrid_listener** listener);
/* Closes the listener and frees the handle; accepted endpoints stay open. */
void strata_hybrid_listener_close(strata_hybrid_listener* listener);
/* Returns the TCP port that it listens on, also if the options had 0. */
uint16_t strata_hybrid_listener_port(const strata_hybrid_listener* listener);
/* Returns the descriptor to poll; it stays the listener's. */
int strata_hybrid_listener_fd(const strata_hybrid_listener* listener);
/* Waits for a client for up to the options' `timeout_ms`. -ETIMEDOUT. */
int strata_hybrid_accept(strata_hybrid_listener* listener, strata_hybrid** endpoint);
/* Connects to `host`, a numeric address. Retries until the server is there, for up to `timeout_ms`.
 * -ETIMEDOUT, -EBUSY if it uses another EtherType or VLAN. */
int strata_hybrid_connect(const char* interface_name, const char* host,
                          const strata_hybrid_options* options, strata_hybrid** endpoint);
/* Closes the connection, which notifies the peer, and frees the handle. */
void strata_hybrid_close(strata_hybrid* endpoint);

/* Sends one message in one frame. -EMSGSIZE above strata_hybrid_max_payload; -ECONNRESET if the
 * peer is gone. */
int strata_hybrid_send(strata_hybrid* endpoint, const void* payload, size_t size);
/* Returns the size of the largest message, which follows from the MTU, in bytes. */
size_t strata_hybrid_max_payload(const strata_hybrid* endpoint);
/* Writes the peer's MAC address to `mac`. */
void strata_hybrid_peer(const strata_hybrid* endpoint, uint8_t mac[6]);

/* A received message and its tag. */
typedef struct strata_hybrid_message {
  const void* bytes; /* valid until the next call with the endpoint */
  size_t size;
  uint8_t was_tagged;
  uint8_t priority;
  uint16_t vlan_id;
} strata_hybrid_message;

/* Returns 1 and the next message, or 0 if none arrives within `timeout_ms` (0: does not wait, -1:
 * waits forever). -ECONNRESET if the peer is gone, after all its messages. */
int strata_hybrid_receive(strata_hybrid* endpoint, int timeout_ms, strata_hybrid_message* received);
/* Returns a descriptor to poll for reading, together with strata_hybrid_control_fd; both stay the
 * endpoint's. */
int strata_hybrid_data_fd(const strata_hybrid* endpoint);
/* As strata_hybrid_data_fd, for the TCP connection. */
int strata_hybrid_control_fd(const strata_hybrid* endpoint);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif
