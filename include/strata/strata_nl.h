/* The C ABI of the strata library's netlink part: generic netlink families, and network interfaces
 * through rtnetlink. Link with libstrata-c. The rules of strata.h apply: functions return 0 or a
 * negative errno, strata_last_error() returns the sentence, handles are opaque, closing NULL is
 * harmless, and structures that begin with `size` are initialized by their _defaults function.
 *
 * A handle belongs to one thread at a time, and to the network namespace of the thread that opened
 * it. Memory that a function returns a pointer to belongs to the library and may be read until the
 * next call with the same handle; structures that only the library creates may grow at their end.
 * Sizes are in bytes, numbers in the byte order of the machine. No call needs privileges, but a
 * family may. Linux 6.1 or newer. Source: Documentation/userspace-api/netlink,
 * include/uapi/linux/{netlink,genetlink}.h. */
#pragma once

#include <strata/strata.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* C has no other way to name a type, or to convert one. */
/* NOLINTBEGIN(modernize-use-using,cppcoreguidelines-pro-type-cstyle-cast) */

/* --- received attributes. Nothing is read outside of the bytes, whatever they hold. */

/* The attributes that are still unread. */
typedef struct strata_nl_attributes {
  const void* bytes;
  size_t size;
} strata_nl_attributes;

/* One attribute, in the message that contained it. */
typedef struct strata_nl_attribute {
  uint16_t type;
  uint8_t is_nest;       /* as marked by its sender; older families do not */
  uint8_t is_big_endian; /* NLA_F_NET_BYTEORDER */
  size_t size;
  const void* value; /* of any alignment */
} strata_nl_attribute;

/* Reads the first attribute of `rest`, and removes it from `rest`. Returns 1, or 0 if there is
 * none: at the end, or before a malformed attribute, which stays in `rest`. */
static inline int strata_nl_next(strata_nl_attributes* rest, strata_nl_attribute* read) {
  uint16_t head[2]; /* size with this header, and type with two flags */
  size_t padded = 0;
  if (rest->size < sizeof head) return 0;
  memcpy(head, rest->bytes, sizeof head);
  if (head[0] < sizeof head || head[0] > rest->size) return 0;
  read->type = (uint16_t)(head[1] & 0x3fffU);
  read->is_nest = (uint8_t)((head[1] & 0x8000U) != 0);
  read->is_big_endian = (uint8_t)((head[1] & 0x4000U) != 0);
  read->size = head[0] - sizeof head;
  read->value = (const char*)rest->bytes + sizeof head;
  padded = ((size_t)head[0] + 3) & ~(size_t)3;
  if (padded > rest->size) padded = rest->size; /* the last one may have no padding */
  rest->bytes = (const char*)rest->bytes + padded;
  rest->size -= padded;
  return 1;
}

/* Finds the first attribute of that type. Returns 1, or 0 if there is none. */
static inline int strata_nl_find(strata_nl_attributes among, uint16_t type,
                                 strata_nl_attribute* attribute) {
  while (strata_nl_next(&among, attribute)) {
    if (attribute->type == type) return 1;
  }
  return 0;
}

/* Reads a number of one, two, four or eight bytes. Returns 1, or 0 if the value has another size.
 */
static inline int strata_nl_number(const strata_nl_attribute* attribute, uint64_t* number) {
  union {
    uint8_t one;
    uint16_t two;
    uint32_t four;
    uint64_t eight;
  } value;
  if (attribute->size > sizeof value) return 0;
  memcpy(&value, attribute->value, attribute->size);
  switch (attribute->size) {
    case 1: *number = value.one; break;
    case 2: *number = value.two; break;
    case 4: *number = value.four; break;
    case 8: *number = value.eight; break;
    default: return 0;
  }
  return 1;
}

/* Returns the beginning of the text, and writes its size up to its NUL, or of the whole value if it
 * has no NUL. */
static inline const char* strata_nl_text(const strata_nl_attribute* attribute, size_t* size) {
  const void* end =
      attribute->size == 0 ? attribute->value : memchr(attribute->value, 0, attribute->size);
  *size = end ? (size_t)((const char*)end - (const char*)attribute->value) : attribute->size;
  return (const char*)attribute->value;
}

/* Returns the attributes within this one; they are valid as long as it is. */
static inline strata_nl_attributes strata_nl_nest(const strata_nl_attribute* attribute) {
  strata_nl_attributes within;
  within.bytes = attribute->value;
  within.size = attribute->size;
  return within;
}

/* --- a connection to generic netlink */

/* A connection to generic netlink. */
typedef struct strata_nl strata_nl;

/* Options of strata_nl_open; strata_nl_defaults initializes them. */
typedef struct strata_nl_options {
  size_t size;             /* sizeof(strata_nl_options) */
  uint32_t receive_buffer; /* SO_RCVBUF; multicast beyond it is lost. 0: the kernel's default */
  uint32_t patience_ms;    /* the longest wait for a reply */
  /* The size of the largest request, and of the largest datagram received, 1 KiB to 16 MiB. The
   * kernel writes dumps in pieces of at most 32 KiB. */
  uint32_t largest_message;
  uint8_t extended_acks; /* the kernel's text on what is wrong, for one more system call */
} strata_nl_options;

/* Extended ACKs, 5 s, 32 KiB. */
void strata_nl_defaults(strata_nl_options* options);
/* Opens a connection; `options` may be NULL. -EINVAL for a `largest_message` out of range. */
int strata_nl_open(const strata_nl_options* options, strata_nl** connection);
/* Closes the connection and frees the handle; its replies become invalid. */
void strata_nl_close(strata_nl* connection);
/* Returns the descriptor to poll; it stays the connection's. */
int strata_nl_fd(const strata_nl* connection);

/* The last failure of a call with this connection; all 0 if there was none. */
typedef struct strata_nl_failure {
  int error_number; /* the kernel's errno, positive; 0 if the failure is not the kernel's */
  int64_t offset;   /* of the fault, from the beginning of the request; or -1 */
  const char* text; /* the reason, in the kernel's text (extended ACK) if it gave one; never NULL */
} strata_nl_failure;

/* Returns the last failure, valid until the next call with the connection that fails. */
const strata_nl_failure* strata_nl_last_failure(const strata_nl* connection);

/* --- families, as the kernel's controller reports them */

/* Finds the number of a family, which changes with each registration. -ENOENT if no family of that
 * name is in this network namespace. */
int strata_nl_resolve(strata_nl* connection, const char* name, uint16_t* family);

/* Flags of an operation (GENL_…). */
#define STRATA_NL_NEEDS_ADMIN 0x01U     /* CAP_NET_ADMIN */
#define STRATA_NL_CAN_DO 0x02U          /* it accepts requests */
#define STRATA_NL_CAN_DUMP 0x04U        /* it accepts dumps */
#define STRATA_NL_HAS_POLICY 0x08U      /* the kernel reports its policy */
#define STRATA_NL_NEEDS_UNS_ADMIN 0x10U /* CAP_NET_ADMIN in the network's user namespace */

/* A command of a family. */
typedef struct strata_nl_operation {
  uint32_t command;
  uint32_t flags; /* STRATA_NL_… */
} strata_nl_operation;

/* A multicast group of a family. */
typedef struct strata_nl_group {
  const char* name;
  uint32_t id;
} strata_nl_group;

/* A family, as the controller reports it. */
typedef struct strata_nl_family {
  const char* name;
  uint16_t id;
  uint32_t version;
  uint32_t header_size;   /* of the family's own header; almost all families have none */
  uint32_t max_attribute; /* 0 if each operation has its own */
  const strata_nl_operation* operations;
  size_t operation_count;
  const strata_nl_group* groups;
  size_t group_count;
} strata_nl_family;

/* A list that does not change until it is closed; the connection may be closed before. */
typedef struct strata_nl_families strata_nl_families;

/* Lists the family of that name, or all families, by id, if `name` is NULL. -ENOENT as above. */
int strata_nl_families_open(strata_nl* connection, const char* name, strata_nl_families** families);
/* Frees the list and everything that it returned. */
void strata_nl_families_close(strata_nl_families* families);
/* Returns the number of families. */
size_t strata_nl_families_count(const strata_nl_families* families);
/* Returns a family; NULL from `count` on. */
const strata_nl_family* strata_nl_families_at(const strata_nl_families* families, size_t index);

/* --- policies: the attributes that the kernel accepts in a family's requests */

#define STRATA_NL_HAS_RANGE 1U        /* `least` and `most` */
#define STRATA_NL_HAS_SIGNED_RANGE 2U /* `least_signed` and `most_signed` */
#define STRATA_NL_HAS_LEAST_SIZE 4U   /* `least_size` */
#define STRATA_NL_HAS_MOST_SIZE 8U    /* `most_size` */
#define STRATA_NL_HAS_MASK 16U        /* `mask` */
#define STRATA_NL_HAS_TABLE 32U       /* `nested_table` */

/* The policy of an attribute; `known` flags the limits that the kernel reports (STRATA_NL_HAS_…).
 */
typedef struct strata_nl_policy {
  uint32_t table;     /* the table it is in; a nest has a table of its own */
  uint16_t attribute; /* its type */
  const char* kind;   /* "u32", "nul-string", "nested", … */
  uint32_t known;
  uint64_t least, most;
  int64_t least_signed, most_signed;
  uint32_t least_size, most_size; /* bytes */
  uint64_t mask;                  /* the permitted bits */
  uint32_t nested_table;          /* the table of a nest's attributes */
} strata_nl_policy;

/* A list that does not change until it is closed; the connection may be closed before. */
typedef struct strata_nl_policies strata_nl_policies;

/* Lists a family's policies by table and type (CTRL_CMD_GETPOLICY). -ENOENT if there is no such
 * family, or the kernel reports none of its policies. */
int strata_nl_policies_open(strata_nl* connection, const char* family,
                            strata_nl_policies** policies);
/* Frees the list and everything that it returned. */
void strata_nl_policies_close(strata_nl_policies* policies);
/* Returns the number of attributes in all tables. */
size_t strata_nl_policies_count(const strata_nl_policies* policies);
/* Returns a policy; NULL from `count` on. */
const strata_nl_policy* strata_nl_policies_at(const strata_nl_policies* policies, size_t index);
/* Returns the table of a command's requests, or of its dumps; -1 if the kernel reports none. */
int64_t strata_nl_policies_table_of(const strata_nl_policies* policies, uint32_t command,
                                    uint8_t is_dump);

/* --- requests. A connection has one at a time, in its own memory: begin it, put attributes into
 * it, and send it with strata_nl_ask or strata_nl_dump. None of this allocates. An attribute that
 * has no room is left out, and sending then returns -EMSGSIZE. */

#define STRATA_NL_ACK 0x004U /* NLM_F_ACK: request an ACK, also if there is no other reply */

/* Begins a request to a family, discarding the previous one. */
void strata_nl_begin(strata_nl* connection, uint16_t family, uint8_t command, uint8_t version);
/* Adds flags (NLM_F_…); NLM_F_REQUEST is already set. */
void strata_nl_add_flags(strata_nl* connection, uint16_t flags);
/* Writes the header of a family that has one of its own, before all attributes. */
void strata_nl_put_header(strata_nl* connection, const void* header, size_t size);
/* An attribute without data. */
void strata_nl_put_flag(strata_nl* connection, uint16_t type);
/* A number of 8 bits. */
void strata_nl_put_u8(strata_nl* connection, uint16_t type, uint8_t value);
/* A number of 16 bits, in the byte order of the machine, as all numbers here. */
void strata_nl_put_u16(strata_nl* connection, uint16_t type, uint16_t value);
/* A number of 32 bits. */
void strata_nl_put_u32(strata_nl* connection, uint16_t type, uint32_t value);
/* A number of 64 bits. */
void strata_nl_put_u64(strata_nl* connection, uint16_t type, uint64_t value);
/* Writes `size` characters, followed by a NUL. */
void strata_nl_put_text(strata_nl* connection, uint16_t type, const char* text, size_t size);
/* Bytes as they are. */
void strata_nl_put_bytes(strata_nl* connection, uint16_t type, const void* bytes, size_t size);
/* Opens a nest, which contains the attributes up to the matching close. At most 8 levels. */
void strata_nl_open_nest(strata_nl* connection, uint16_t type);
/* Closes the nest that was opened last. */
void strata_nl_close_nest(strata_nl* connection);

/* A message from the kernel. */
typedef struct strata_nl_message {
  uint16_t family;
  uint16_t flags; /* NLM_F_… */
  uint8_t command;
  uint8_t version;
  uint8_t is_ack;                  /* it is only an ACK: the other members have no meaning */
  strata_nl_attributes attributes; /* behind the family's own header, if it has one */
} strata_nl_message;

/* Sends the request and waits for its reply, which may be read until the next call with
 * `connection`. The request may be sent again. Errors: the kernel's, on which
 * strata_nl_last_failure() has details; -ETIMEDOUT after `patience_ms`; -EMSGSIZE; -EINVAL if no
 * request was begun. */
int strata_nl_ask(strata_nl* connection, const strata_nl_message** reply);
/* Returns the cookie of the last ACK; `size` becomes 0 if it had none. */
const void* strata_nl_cookie(const strata_nl* connection, size_t* size);

/* Sends the request as a dump, and calls `each` for each message of the reply, which may be read
 * until `each` returns. `each` must make no call with `connection` and throw nothing. Errors as
 * above; -EBUSY if the dumped state changed meanwhile: repeat the request. */
int strata_nl_dump(strata_nl* connection,
                   void (*each)(void* context, const strata_nl_message* message), void* context);

/* --- multicast by families. Use a separate connection for requests: multicast messages that arrive
 * during the wait for a reply are skipped. */

/* Joins a group; `group` is an id of strata_nl_group. -EPERM, -ENOENT. */
int strata_nl_join(strata_nl* connection, uint32_t group);
/* Leaves a group; `group` is an id of strata_nl_group. Messages received before may still be read.
 */
int strata_nl_leave(strata_nl* connection, uint32_t group);
/* Returns 1 and the next message, or 0 if none arrives within `timeout_ms` (0: does not wait, -1:
 * waits forever). -ENOBUFS if messages were lost because they arrived faster than they were read;
 * later calls continue. */
int strata_nl_event(strata_nl* connection, int timeout_ms, const strata_nl_message** event);

/* --- links: the network interfaces, through rtnetlink */

/* A network interface. */
typedef struct strata_nl_link {
  int32_t index;
  int32_t peer;     /* the other end of a veth, or a VLAN device's underlying link; or 0 */
  const char* name; /* never NULL */
  const char* kind; /* "veth", "vlan", …; "" for hardware */
  uint32_t mtu;
  uint32_t flags; /* IFF_… of netdevice(7) */
  uint8_t mac[6]; /* zero if the link has none */
} strata_nl_link;

/* A list that does not change until it is closed. */
typedef struct strata_nl_links strata_nl_links;

/* Lists the link of that name, or all links, by index, if `name` is NULL. Uses a socket that is
 * open only during the call. -ENODEV if there is no link of that name. */
int strata_nl_links_open(const char* name, strata_nl_links** links);
/* Frees the list and everything that it returned. */
void strata_nl_links_close(strata_nl_links* links);
/* Returns the number of links. */
size_t strata_nl_links_count(const strata_nl_links* links);
/* Returns a link; NULL from `count` on. */
const strata_nl_link* strata_nl_links_at(const strata_nl_links* links, size_t index);

/* An address of a link. */
typedef struct strata_nl_address {
  int32_t link;      /* index */
  uint8_t is_v6;     /* 16 bytes; else 4 */
  uint8_t prefix;    /* bits */
  uint8_t bytes[16]; /* in network byte order */
  const char* text;  /* "192.0.2.1/24" */
} strata_nl_address;

/* A list that does not change until it is closed. */
typedef struct strata_nl_addresses strata_nl_addresses;

/* Lists the addresses of the link with that index, or of all links if `link` is 0. Uses a socket
 * that is open only during the call. */
int strata_nl_addresses_open(int32_t link, strata_nl_addresses** addresses);
/* Frees the list and everything that it returned. */
void strata_nl_addresses_close(strata_nl_addresses* addresses);
/* Returns the number of addresses. */
size_t strata_nl_addresses_count(const strata_nl_addresses* addresses);
/* Returns an address; NULL from `count` on. */
const strata_nl_address* strata_nl_addresses_at(const strata_nl_addresses* addresses, size_t index);

/* Reports changes of links from the time it is opened on: open it first, then query the current
 * state. */
typedef struct strata_nl_watch strata_nl_watch;

#define STRATA_NL_LINK_CHANGED 1 /* the new state; also of a new link */
#define STRATA_NL_LINK_REMOVED 2 /* the last state */

/* Opens a watch; `options` may be NULL. */
int strata_nl_watch_open(const strata_nl_options* options, strata_nl_watch** watch);
/* Closes the watch and frees the handle. */
void strata_nl_watch_close(strata_nl_watch* watch);
/* Returns the descriptor to poll: readable when there is an event. It stays the watch's. */
int strata_nl_watch_fd(const strata_nl_watch* watch);
/* Returns STRATA_NL_LINK_CHANGED or _REMOVED and the link, or 0 if nothing happens within
 * `timeout_ms` (0: does not wait, -1: waits forever). -ENOBUFS if events were lost: query the
 * current state again; later calls continue. */
int strata_nl_watch_event(strata_nl_watch* watch, int timeout_ms, const strata_nl_link** link);

/* NOLINTEND(modernize-use-using,cppcoreguidelines-pro-type-cstyle-cast) */

#ifdef __cplusplus
}
#endif
