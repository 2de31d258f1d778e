/* The C ABI of the strata library's netlink part: generic netlink families, and the network
 * interfaces by rtnetlink. Link with libstrata-c. The rules of strata.h hold: 0 or a negative
 * errno, strata_last_error() for the sentence, opaque handles, NULL is harmless to close,
 * structures with `size` first are set up by their _defaults function.
 *
 * A handle belongs to one thread at a time, and to the network namespace of the thread that opened
 * it. What a function points to is the library's, and may be read until the next call with the same
 * handle; structures that only the library makes may grow at their end. Sizes are in bytes, numbers
 * in the byte order of the machine. No call needs privileges, but a family may. Linux 6.1 or newer.
 * Source: Documentation/userspace-api/netlink, include/uapi/linux/{netlink,genetlink}.h.
 */
#pragma once

#include <strata/strata.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* C has no other way to name a type, or to convert one. */
/* NOLINTBEGIN(modernize-use-using,cppcoreguidelines-pro-type-cstyle-cast) */

/* --- attributes, as they are received. Nothing is read outside of the bytes, whatever they hold.
 */

/* What is left to be read of some attributes. */
typedef struct strata_nl_attributes {
  const void* bytes;
  size_t size;
} strata_nl_attributes;

/* One attribute, within the message that it came in. */
typedef struct strata_nl_attribute {
  uint16_t type;
  uint8_t is_nest;       /* its sender says so; older families do not */
  uint8_t is_big_endian; /* NLA_F_NET_BYTEORDER */
  size_t size;
  const void* value; /* of any alignment */
} strata_nl_attribute;

/* Reads the first of `rest`, and takes it away. 1, or 0 when there is none: at the end, and before
 * what is malformed, which stays. */
static inline int strata_nl_next(strata_nl_attributes* rest, strata_nl_attribute* read) {
  uint16_t head[2]; /* size with the head, and type with two flags */
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

/* The first of that type: 1, or 0 when there is none. */
static inline int strata_nl_find(strata_nl_attributes among, uint16_t type,
                                 strata_nl_attribute* attribute) {
  while (strata_nl_next(&among, attribute)) {
    if (attribute->type == type) return 1;
  }
  return 0;
}

/* 1, or 0 when the value has none of one, two, four and eight bytes. */
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

/* The text's beginning, and its size up to its NUL, or all of it where there is no NUL. */
static inline const char* strata_nl_text(const strata_nl_attribute* attribute, size_t* size) {
  const void* end =
      attribute->size == 0 ? attribute->value : memchr(attribute->value, 0, attribute->size);
  *size = end ? (size_t)((const char*)end - (const char*)attribute->value) : attribute->size;
  return (const char*)attribute->value;
}

/* The attributes within this one; they are valid as long as it is. */
static inline strata_nl_attributes strata_nl_nest(const strata_nl_attribute* attribute) {
  strata_nl_attributes within;
  within.bytes = attribute->value;
  within.size = attribute->size;
  return within;
}

/* --- a connection to generic netlink */

/* A connection to generic netlink. */
typedef struct strata_nl strata_nl;

/* Of strata_nl_open; strata_nl_defaults sets them up. */
typedef struct strata_nl_options {
  size_t size;             /* sizeof(strata_nl_options) */
  uint32_t receive_buffer; /* SO_RCVBUF; what is multicast above it is lost. 0: the kernel's own */
  uint32_t patience_ms;    /* the longest wait for a reply */
  /* Of the largest request, and the largest datagram received, 1 KiB to 16 MiB. The kernel writes
   * dumps in pieces of 32 KiB at most. */
  uint32_t largest_message;
  uint8_t extended_acks; /* the kernel's words about what is wrong, for one more system call */
} strata_nl_options;

/* Extended ACKs, 5 s, 32 KiB. */
void strata_nl_defaults(strata_nl_options* options);
/* `options` may be NULL. -EINVAL for a largest message out of bounds. */
int strata_nl_open(const strata_nl_options* options, strata_nl** connection);
/* Closes the connection and frees the handle; its replies are no longer valid. */
void strata_nl_close(strata_nl* connection);
/* To poll; stays the connection's. */
int strata_nl_fd(const strata_nl* connection);

/* What the last call that failed with this connection could not do; all 0 when none has. */
typedef struct strata_nl_failure {
  int error_number; /* the kernel's, above 0; 0 when it was not the kernel that refused */
  int64_t offset;   /* of what is wrong, from the beginning of the request; or -1 */
  const char* text; /* why, in the kernel's words (extended ACK) where it has any; never NULL */
} strata_nl_failure;

/* Valid until the next call with the connection that fails. */
const strata_nl_failure* strata_nl_last_failure(const strata_nl* connection);

/* --- families, as the kernel's controller tells of them */

/* The number of a family, which is another each time that it is registered. -ENOENT when there is
 * none of that name in this network namespace. */
int strata_nl_resolve(strata_nl* connection, const char* name, uint16_t* family);

/* Of an operation (GENL_…). */
#define STRATA_NL_NEEDS_ADMIN 0x01U     /* CAP_NET_ADMIN */
#define STRATA_NL_CAN_DO 0x02U          /* it can be asked */
#define STRATA_NL_CAN_DUMP 0x04U        /* it can be dumped */
#define STRATA_NL_HAS_POLICY 0x08U      /* the kernel tells what it takes */
#define STRATA_NL_NEEDS_UNS_ADMIN 0x10U /* the same, of the user namespace of the network's */

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

/* What the controller tells of a family. */
typedef struct strata_nl_family {
  const char* name;
  uint16_t id;
  uint32_t version;
  uint32_t header_size;   /* of the family's own header; almost all have none */
  uint32_t max_attribute; /* 0 where each operation has its own */
  const strata_nl_operation* operations;
  size_t operation_count;
  const strata_nl_group* groups;
  size_t group_count;
} strata_nl_family;

/* A list that stays as it is until it is closed; the connection may be closed before. */
typedef struct strata_nl_families strata_nl_families;

/* The family of that name, or all of them, by id, when it is NULL. -ENOENT as above. */
int strata_nl_families_open(strata_nl* connection, const char* name, strata_nl_families** families);
/* Frees the list and all that it told. */
void strata_nl_families_close(strata_nl_families* families);
/* How many families there are. */
size_t strata_nl_families_count(const strata_nl_families* families);
/* NULL from `count` on. */
const strata_nl_family* strata_nl_families_at(const strata_nl_families* families, size_t index);

/* --- policies: what the kernel takes as the attributes of a family's requests */

#define STRATA_NL_HAS_RANGE 1U        /* `least` and `most` */
#define STRATA_NL_HAS_SIGNED_RANGE 2U /* `least_signed` and `most_signed` */
#define STRATA_NL_HAS_LEAST_SIZE 4U   /* `least_size` */
#define STRATA_NL_HAS_MOST_SIZE 8U    /* `most_size` */
#define STRATA_NL_HAS_MASK 16U        /* `mask` */
#define STRATA_NL_HAS_TABLE 32U       /* `nested_table` */

/* An attribute; `known` says which of its limits the kernel tells (STRATA_NL_HAS_…). */
typedef struct strata_nl_policy {
  uint32_t table;     /* that it is of: what is in a nest has one of its own */
  uint16_t attribute; /* its type */
  const char* kind;   /* "u32", "nul-string", "nested", … */
  uint32_t known;
  uint64_t least, most;
  int64_t least_signed, most_signed;
  uint32_t least_size, most_size; /* bytes */
  uint64_t mask;                  /* bits that it may have */
  uint32_t nested_table;          /* of what is in it */
} strata_nl_policy;

/* A list that stays as it is until it is closed; the connection may be closed before. */
typedef struct strata_nl_policies strata_nl_policies;

/* By table and type (CTRL_CMD_GETPOLICY). -ENOENT when there is no such family, or the kernel tells
 * none of its policies. */
int strata_nl_policies_open(strata_nl* connection, const char* family,
                            strata_nl_policies** policies);
/* Frees the list and all that it told. */
void strata_nl_policies_close(strata_nl_policies* policies);
/* How many attributes there are, of all tables. */
size_t strata_nl_policies_count(const strata_nl_policies* policies);
/* NULL from `count` on. */
const strata_nl_policy* strata_nl_policies_at(const strata_nl_policies* policies, size_t index);
/* The table of a command's requests, or of its dumps; -1 where the kernel tells none. */
int64_t strata_nl_policies_table_of(const strata_nl_policies* policies, uint32_t command,
                                    uint8_t is_dump);

/* --- requests. A connection has one at a time, in its own memory: begin it, put attributes into
 * it, and ask. None of this allocates. What has no room is left out, and asking is -EMSGSIZE then.
 */

#define STRATA_NL_ACK 0x004U /* NLM_F_ACK: the reply also when there is no other */

/* Begins a request to a family, in place of what was begun before. */
void strata_nl_begin(strata_nl* connection, uint16_t family, uint8_t command, uint8_t version);
/* NLM_F_…; NLM_F_REQUEST is there already. */
void strata_nl_add_flags(strata_nl* connection, uint16_t flags);
/* For families that have a header of their own, before all attributes. */
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
/* So many characters, and a NUL behind them. */
void strata_nl_put_text(strata_nl* connection, uint16_t type, const char* text, size_t size);
/* Bytes as they are. */
void strata_nl_put_bytes(strata_nl* connection, uint16_t type, const void* bytes, size_t size);
/* Attributes up to the matching close are within this one. At most 8 deep. */
void strata_nl_open_nest(strata_nl* connection, uint16_t type);
/* Ends the nest that was opened last. */
void strata_nl_close_nest(strata_nl* connection);

/* A message of the kernel's. */
typedef struct strata_nl_message {
  uint16_t family;
  uint16_t flags; /* NLM_F_… */
  uint8_t command;
  uint8_t version;
  uint8_t is_ack;                  /* it is an ACK alone: nothing else here tells anything */
  strata_nl_attributes attributes; /* behind the family's own header, where it has one, too */
} strata_nl_message;

/* Sends the request and waits for its reply, which is to be read until the next call with `on`. It
 * may be asked again. The kernel's errors, of which strata_nl_last_failure() tells more; -ETIMEDOUT
 * after `patience_ms`; -EMSGSIZE; -EINVAL when no request was begun. */
int strata_nl_ask(strata_nl* connection, const strata_nl_message** reply);
/* What came with the last ACK; `size` becomes 0 when nothing did. */
const void* strata_nl_cookie(const strata_nl* connection, size_t* size);

/* Sends the request as a dump, and calls `each` for each message of the reply, which is to be read
 * until `each` returns. `each` makes no call with `on`, and throws nothing. Errors as above; -EBUSY
 * when what was dumped changed meanwhile: ask again. */
int strata_nl_dump(strata_nl* connection,
                   void (*each)(void* context, const strata_nl_message* message), void* context);

/* --- what families multicast. Use another connection than to ask: what is multicast while a reply
 * is awaited is passed over. */

/* `group` is an id of strata_nl_group. -EPERM, -ENOENT. */
int strata_nl_join(strata_nl* connection, uint32_t group);
/* `group` is an id of strata_nl_group; what came before may still be read. */
int strata_nl_leave(strata_nl* connection, uint32_t group);
/* 1 and the next message, or 0 when none has come in `timeout_ms` (0: does not wait, -1: waits for
 * ever). -ENOBUFS when some were lost, as they came faster than they were read; then goes on. */
int strata_nl_event(strata_nl* connection, int timeout_ms, const strata_nl_message** event);

/* --- links: the network interfaces, by rtnetlink */

/* A network interface. */
typedef struct strata_nl_link {
  int32_t index;
  int32_t peer;     /* the other end of a veth, or what a VLAN device stands on; or 0 */
  const char* name; /* never NULL */
  const char* kind; /* "veth", "vlan", …; "" for hardware */
  uint32_t mtu;
  uint32_t flags; /* IFF_… of netdevice(7) */
  uint8_t mac[6]; /* zero for those that have none */
} strata_nl_link;

/* A list that stays as it is until it is closed. */
typedef struct strata_nl_links strata_nl_links;

/* The link of that name, or all of them, by index, when it is NULL; by a socket that is open no
 * longer than the call. -ENODEV when there is none of that name. */
int strata_nl_links_open(const char* name, strata_nl_links** links);
/* Frees the list and all that it told. */
void strata_nl_links_close(strata_nl_links* links);
/* How many links there are. */
size_t strata_nl_links_count(const strata_nl_links* links);
/* NULL from `count` on. */
const strata_nl_link* strata_nl_links_at(const strata_nl_links* links, size_t index);

/* An address of a link. */
typedef struct strata_nl_address {
  int32_t link;      /* its index */
  uint8_t is_v6;     /* 16 bytes; else 4 */
  uint8_t prefix;    /* bits */
  uint8_t bytes[16]; /* in network byte order */
  const char* text;  /* "192.0.2.1/24" */
} strata_nl_address;

/* A list that stays as it is until it is closed. */
typedef struct strata_nl_addresses strata_nl_addresses;

/* The addresses of the link with that index, or of all when it is 0; by a socket that is open no
 * longer than the call. */
int strata_nl_addresses_open(int32_t link, strata_nl_addresses** addresses);
/* Frees the list and all that it told. */
void strata_nl_addresses_close(strata_nl_addresses* addresses);
/* How many addresses there are. */
size_t strata_nl_addresses_count(const strata_nl_addresses* addresses);
/* NULL from `count` on. */
const strata_nl_address* strata_nl_addresses_at(const strata_nl_addresses* addresses, size_t index);

/* Hears what happens to links from the moment on when it was opened: open it first, and look at
 * what there is then. */
typedef struct strata_nl_watch strata_nl_watch;

#define STRATA_NL_LINK_CHANGED 1 /* it is so now; also when it is new */
#define STRATA_NL_LINK_REMOVED 2 /* it was so at last */

/* `options` may be NULL. */
int strata_nl_watch_open(const strata_nl_options* options, strata_nl_watch** watch);
/* Closes the watch and frees the handle. */
void strata_nl_watch_close(strata_nl_watch* watch);
/* To poll: readable when something has happened. Stays the watch's. */
int strata_nl_watch_fd(const strata_nl_watch* watch);
/* STRATA_NL_LINK_CHANGED or _REMOVED and the link, or 0 when nothing has happened in `timeout_ms`
 * (0: does not wait, -1: waits for ever). -ENOBUFS when something was lost: look at what there is
 * again; then goes on. */
int strata_nl_watch_event(strata_nl_watch* watch, int timeout_ms, const strata_nl_link** link);

/* NOLINTEND(modernize-use-using,cppcoreguidelines-pro-type-cstyle-cast) */

#ifdef __cplusplus
}
#endif
