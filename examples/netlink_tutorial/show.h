/* Prints a message of generic netlink: each line has bytes, and what they mean. */
#pragma once

#include <ctype.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <string.h>

enum { ON_A_LINE = 10 };

static inline void show_bytes(const void* from, size_t count, const char* meaning) {
  const unsigned char* bytes = from;
  for (size_t begin = 0; begin < count; begin += ON_A_LINE) {
    char text[3 * ON_A_LINE + 1] = "";
    for (size_t i = begin; i < count && i < begin + ON_A_LINE; ++i)
      sprintf(text + 3 * (i - begin), "%02x ", bytes[i]);
    if (begin == 0) printf("  %-32s%s\n", text, meaning);
    if (begin != 0) printf("  %s\n", text);
  }
}

static inline int is_text(const char* data, size_t count) {
  if (count < 2 || data[count - 1] != 0) return 0;
  while (--count > 0)
    if (!isprint((unsigned char)*data++)) return 0;
  return 1;
}

static inline void show_data(const char* data, size_t count) {
  char meaning[64] = "  bytes";
  unsigned number = 0; /* of a little-endian machine */
  if (count <= sizeof(number)) memcpy(&number, data, count);
  if (count <= sizeof(number)) snprintf(meaning, sizeof(meaning), "  %u", number);
  if (is_text(data, count)) snprintf(meaning, sizeof(meaning), "  \"%s\"", data);
  show_bytes(data, count, meaning);
}

static inline void show_attributes(const char* at, size_t length) {
  while (length >= NLA_HDRLEN) {
    const struct nlattr* attribute = (const struct nlattr*)at;
    size_t count = attribute->nla_len, step = NLA_ALIGN(count);
    if (count < NLA_HDRLEN || count > length) break;
    char meaning[64];
    snprintf(meaning, sizeof(meaning), "attribute %d, length %zu",
             attribute->nla_type & NLA_TYPE_MASK, count);
    show_bytes(at, NLA_HDRLEN, meaning);
    show_data(at + NLA_HDRLEN, count - NLA_HDRLEN);
    if (step > length) break;
    show_bytes(at + count, step - count, "  padding");
    at += step;
    length -= step;
  }
}

static inline void show_header(const struct nlmsghdr* header) {
  int is_end = header->nlmsg_type == NLMSG_ERROR || header->nlmsg_type == NLMSG_DONE;
  const char* end = header->nlmsg_type == NLMSG_ERROR ? "NLMSG_ERROR" : "NLMSG_DONE";
  unsigned flags = header->nlmsg_flags;
  char meaning[96];
  snprintf(meaning, sizeof(meaning), "length %u", header->nlmsg_len);
  show_bytes(&header->nlmsg_len, 4, meaning);
  snprintf(meaning, sizeof(meaning), "type %u: %s", header->nlmsg_type,
           is_end ? end : "the family");
  show_bytes(&header->nlmsg_type, 2, meaning);
  snprintf(meaning, sizeof(meaning), "flags%s%s%s%s%s%s", flags & NLM_F_REQUEST ? " REQUEST" : "",
           flags & NLM_F_MULTI ? " MULTI" : "", flags & NLM_F_ACK ? " ACK" : "",
           !is_end && flags & NLM_F_DUMP ? " DUMP" : "",
           is_end && flags & NLM_F_CAPPED ? " CAPPED" : "",
           is_end && flags & NLM_F_ACK_TLVS ? " ACK_TLVS" : "");
  show_bytes(&header->nlmsg_flags, 2, meaning);
  snprintf(meaning, sizeof(meaning), "number %u", header->nlmsg_seq);
  show_bytes(&header->nlmsg_seq, 4, meaning);
  snprintf(meaning, sizeof(meaning), "port %u", header->nlmsg_pid);
  show_bytes(&header->nlmsg_pid, 4, meaning);
}

static inline void show_message(const char* what, const struct nlmsghdr* header) {
  const char* payload = NLMSG_DATA(header);
  size_t length = header->nlmsg_len - NLMSG_HDRLEN, skipped = GENL_HDRLEN;
  char meaning[96];
  printf("%s:\n", what);
  show_header(header);
  if (header->nlmsg_type == NLMSG_ERROR || header->nlmsg_type == NLMSG_DONE) {
    int error = *(const int*)payload;
    snprintf(meaning, sizeof(meaning), "error %d: %s", error, strerror(-error));
    show_bytes(payload, sizeof(error), error ? meaning : "error 0: all is well");
    skipped = sizeof(error);
    if (header->nlmsg_type == NLMSG_ERROR) {
      show_bytes(payload + skipped, NLMSG_HDRLEN, "the request's header");
      skipped += NLMSG_HDRLEN;
    }
  } else {
    const struct genlmsghdr* generic = (const struct genlmsghdr*)payload;
    snprintf(meaning, sizeof(meaning), "command %d, version %d", generic->cmd, generic->version);
    show_bytes(payload, skipped, meaning);
  }
  show_attributes(payload + skipped, length - skipped);
}
