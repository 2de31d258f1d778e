/* Netlink: requests go from OCaml's values straight into the connection's memory; what comes back
 * is collected without the runtime lock, and copied to OCaml's memory afterwards. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "devices.h"

static void close_nl(void* which) { strata_nl_close(which); }
static int fd_of_nl(const void* which) { return strata_nl_fd(which); }

value xsk_nl_open(value blank) {
  strata_nl* opened = NULL;
  const int code = strata_nl_open(NULL, &opened);
  return Val_int(code != 0 ? code : xsk_device_adopt(blank, opened, close_nl, fd_of_nl));
}

value xsk_nl_resolve(value handle, value name) {
  CAMLparam2(handle, name);
  uint16_t family = 0;
  int code = 0;
  struct device_body* const body = xsk_device_begin(handle, &code);
  if (body == NULL) CAMLreturn(Val_int(code));
  char* const copied = caml_stat_strdup(String_val(name));
  caml_enter_blocking_section();
  code = strata_nl_resolve(body->handle, copied, &family);
  caml_leave_blocking_section();
  caml_stat_free(copied);
  code = xsk_device_end(body, code);
  CAMLreturn(Val_int(code == 0 ? family : code));
}

/* --- what a call gives back: a growing list of messages, each its numbers and its bytes */

struct message {
  struct message* next;
  strata_nl_message head;
  size_t size;
  char bytes[];
};

struct messages {
  struct message* first;
  struct message** last;
  int is_short; /* of memory */
};

static void collect(void* context, const strata_nl_message* read) {
  struct messages* const to = context;
  const size_t size = read->is_ack ? 0 : read->attributes.size;
  struct message* const made = malloc(sizeof *made + size);
  if (made == NULL) {
    to->is_short = 1;
    return;
  }
  made->next = NULL;
  made->head = *read;
  made->size = size;
  if (size != 0) memcpy(made->bytes, read->attributes.bytes, size);
  *to->last = made;
  to->last = &made->next;
}

static void free_messages(struct message* which) {
  while (which != NULL) {
    struct message* const next = which->next;
    free(which);
    which = next;
  }
}

/* (family, command, version, flags, is_ack, attributes) list, the last first. */
static value list_of(const struct message* from) {
  CAMLparam0();
  CAMLlocal4(list, cell, made, bytes);
  list = Val_emptylist;
  for (; from != NULL; from = from->next) {
    bytes = caml_alloc_initialized_string(from->size, from->bytes);
    made = caml_alloc_tuple(6);
    Store_field(made, 0, Val_int(from->head.family));
    Store_field(made, 1, Val_int(from->head.command));
    Store_field(made, 2, Val_int(from->head.version));
    Store_field(made, 3, Val_int(from->head.flags));
    Store_field(made, 4, Val_bool(from->head.is_ack));
    Store_field(made, 5, bytes);
    cell = caml_alloc_small(2, Tag_cons);
    Field(cell, 0) = made;
    Field(cell, 1) = list;
    list = cell;
  }
  CAMLreturn(list);
}

/* --- requests: the constructors of Netlink.value, in their order */

static void put(strata_nl* on, value attributes, int depth) {
  for (; attributes != Val_emptylist; attributes = Field(attributes, 1)) {
    const value pair = Field(attributes, 0);
    const uint16_t type = (uint16_t)Long_val(Field(pair, 0));
    const value what = Field(pair, 1);
    if (Is_long(what)) {
      strata_nl_put_flag(on, type);
      continue;
    }
    const value held = Field(what, 0);
    switch (Tag_val(what)) {
      case 0: strata_nl_put_u8(on, type, (uint8_t)Long_val(held)); break;
      case 1: strata_nl_put_u16(on, type, (uint16_t)Long_val(held)); break;
      case 2: strata_nl_put_u32(on, type, (uint32_t)Long_val(held)); break;
      case 3: strata_nl_put_u64(on, type, (uint64_t)Int64_val(held)); break;
      case 4: strata_nl_put_text(on, type, String_val(held), caml_string_length(held)); break;
      case 5: strata_nl_put_bytes(on, type, String_val(held), caml_string_length(held)); break;
      default:
        strata_nl_open_nest(on, type);
        put(on, held, depth + 1);
        strata_nl_close_nest(on);
    }
  }
}

/* `ints`: family, command, version, flags, is_dump. The messages go into `to`'s first field. */
value xsk_nl_ask(value handle, value ints, value attributes, value to) {
  CAMLparam4(handle, ints, attributes, to);
  CAMLlocal1(list);
  struct messages got = {.first = NULL, .last = NULL, .is_short = 0};
  int code = 0;
  struct device_body* const body = xsk_device_begin(handle, &code);
  if (body == NULL) CAMLreturn(Val_int(code));
  got.last = &got.first;
  strata_nl* const on = body->handle;
  const int is_dump = Bool_val(Field(ints, 4));
  strata_nl_begin(on, (uint16_t)Long_val(Field(ints, 0)), (uint8_t)Long_val(Field(ints, 1)),
                  (uint8_t)Long_val(Field(ints, 2)));
  strata_nl_add_flags(on, (uint16_t)Long_val(Field(ints, 3)));
  put(on, attributes, 0);
  caml_enter_blocking_section();
  if (is_dump) {
    code = strata_nl_dump(on, collect, &got);
  } else {
    const strata_nl_message* reply = NULL;
    code = strata_nl_ask(on, &reply);
    if (code == 0) collect(&got, reply);
  }
  caml_leave_blocking_section();
  if (code == 0 && got.is_short) code = -ENOMEM;
  code = xsk_device_end(body, code);
  if (code == 0) {
    list = list_of(got.first);
    Store_field(to, 0, list);
  }
  free_messages(got.first);
  CAMLreturn(Val_int(code));
}

value xsk_nl_join(value handle, value group, value is_joined) {
  int code = 0;
  struct device_body* const body = xsk_device_begin(handle, &code);
  if (body == NULL) return Val_int(code);
  const uint32_t which = (uint32_t)Long_val(group);
  code = Bool_val(is_joined) ? strata_nl_join(body->handle, which)
                             : strata_nl_leave(body->handle, which);
  return Val_int(xsk_device_end(body, code));
}

/* 1 and the event as above, or 0 when none came. */
value xsk_nl_event(value handle, value to, value timeout_ms) {
  CAMLparam2(handle, to);
  CAMLlocal1(list);
  struct messages got = {.first = NULL, .last = NULL, .is_short = 0};
  const strata_nl_message* event = NULL;
  int code = 0;
  const int limit = Int_val(timeout_ms);
  struct device_body* const body = xsk_device_begin(handle, &code);
  if (body == NULL) CAMLreturn(Val_int(code));
  got.last = &got.first;
  caml_enter_blocking_section();
  code = strata_nl_event(body->handle, limit, &event);
  if (code == 1) collect(&got, event);
  caml_leave_blocking_section();
  if (got.is_short) code = -ENOMEM;
  code = xsk_device_end(body, code);
  if (code == 1) {
    list = list_of(got.first);
    Store_field(to, 0, list);
  }
  free_messages(got.first);
  CAMLreturn(Val_int(code));
}

/* --- families and links: lists of tuples, the last first */

static value pair_list(size_t count, const void* from, value (*pair_of)(const void*, size_t)) {
  CAMLparam0();
  CAMLlocal3(list, cell, made);
  list = Val_emptylist;
  while (count-- > 0) {
    made = pair_of(from, count);
    cell = caml_alloc_small(2, Tag_cons);
    Field(cell, 0) = made;
    Field(cell, 1) = list;
    list = cell;
  }
  CAMLreturn(list);
}

static value operation_of(const void* from, size_t at) {
  const strata_nl_operation* const which = (const strata_nl_operation*)from + at;
  const value made = caml_alloc_tuple(2);
  Store_field(made, 0, Val_long(which->command));
  Store_field(made, 1, Val_long(which->flags));
  return made;
}

static value group_of(const void* from, size_t at) {
  CAMLparam0();
  CAMLlocal2(made, name);
  const strata_nl_group* const which = (const strata_nl_group*)from + at;
  name = caml_copy_string(which->name);
  made = caml_alloc_tuple(2);
  Store_field(made, 0, name);
  Store_field(made, 1, Val_long(which->id));
  CAMLreturn(made);
}

static value family_of(const void* from, size_t at) {
  CAMLparam0();
  CAMLlocal4(made, name, operations, groups);
  const strata_nl_family* const which = strata_nl_families_at(from, at);
  name = caml_copy_string(which->name);
  operations = pair_list(which->operation_count, which->operations, operation_of);
  groups = pair_list(which->group_count, which->groups, group_of);
  made = caml_alloc_tuple(5);
  Store_field(made, 0, name);
  Store_field(made, 1, Val_int(which->id));
  Store_field(made, 2, Val_long(which->version));
  Store_field(made, 3, operations);
  Store_field(made, 4, groups);
  CAMLreturn(made);
}

static value link_of(const void* from, size_t at) {
  CAMLparam0();
  CAMLlocal4(made, name, kind, mac);
  const strata_nl_link* const which = strata_nl_links_at(from, at);
  name = caml_copy_string(which->name);
  kind = caml_copy_string(which->kind);
  mac = caml_alloc_initialized_string(6, (const char*)which->mac);
  made = caml_alloc_tuple(7);
  Store_field(made, 0, Val_long(which->index));
  Store_field(made, 1, Val_long(which->peer));
  Store_field(made, 2, name);
  Store_field(made, 3, kind);
  Store_field(made, 4, Val_long(which->mtu));
  Store_field(made, 5, Val_long(which->flags));
  Store_field(made, 6, mac);
  CAMLreturn(made);
}

static char* copy_of_option(value text) {
  return Is_some(text) ? caml_stat_strdup(String_val(Some_val(text))) : NULL;
}

value xsk_nl_families(value handle, value name, value to) {
  CAMLparam3(handle, name, to);
  CAMLlocal1(list);
  strata_nl_families* told = NULL;
  int code = 0;
  struct device_body* const body = xsk_device_begin(handle, &code);
  if (body == NULL) CAMLreturn(Val_int(code));
  char* const copied = copy_of_option(name);
  caml_enter_blocking_section();
  code = strata_nl_families_open(body->handle, copied, &told);
  caml_leave_blocking_section();
  caml_stat_free(copied);
  code = xsk_device_end(body, code);
  if (code == 0) {
    list = pair_list(strata_nl_families_count(told), told, family_of);
    Store_field(to, 0, list);
  }
  strata_nl_families_close(told);
  CAMLreturn(Val_int(code));
}

value xsk_nl_links(value name, value to) {
  CAMLparam2(name, to);
  CAMLlocal1(list);
  strata_nl_links* told = NULL;
  char* const copied = copy_of_option(name);
  caml_enter_blocking_section();
  const int code = strata_nl_links_open(copied, &told);
  caml_leave_blocking_section();
  caml_stat_free(copied);
  if (code == 0) {
    list = pair_list(strata_nl_links_count(told), told, link_of);
    Store_field(to, 0, list);
  }
  strata_nl_links_close(told);
  CAMLreturn(Val_int(code));
}
