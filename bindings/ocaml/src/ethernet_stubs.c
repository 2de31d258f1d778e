/* Frames, raw sockets and packet rings. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "devices.h"

enum { some = 64, largest_usual = 9000, room_for_head = 64 };

static uint8_t byte_of(value array, int at) { return (uint8_t)Long_val(Field(array, at)); }

/* --- frames: [| ethertype; tpid; vid; priority; dei; tpid; … |] and "destination source" */

value xsk_frame_build(value ints, value macs, value payload, value mtu, value to) {
  strata_frame frame = {.ethertype = (int32_t)Long_val(Field(ints, 0))};
  size_t built = 0;
  memcpy(frame.destination, String_val(macs), 6);
  memcpy(frame.source, String_val(macs) + 6, 6);
  frame.tag_count = (uint32_t)((Wosize_val(ints) - 1) / 4);
  for (uint32_t i = 0; i < frame.tag_count && i < STRATA_MAX_VLAN_TAGS; ++i) {
    frame.tags[i].tpid = (uint16_t)Long_val(Field(ints, 1 + 4 * i));
    frame.tags[i].vlan_id = (uint16_t)Long_val(Field(ints, 2 + 4 * i));
    frame.tags[i].priority = byte_of(ints, (int)(3 + 4 * i));
    frame.tags[i].dei = byte_of(ints, (int)(4 + 4 * i));
  }
  frame.payload = Bytes_val(payload);
  frame.payload_size = caml_string_length(payload);
  const int code = strata_frame_build(&frame, (size_t)Long_val(mtu), Bytes_val(to),
                                      caml_string_length(to), &built);
  return code == 0 ? Val_long((long)built) : Val_int(code);
}

/* Into int array of 19: ethertype, tag count, offset of the payload, and four tags. */
value xsk_frame_parse(value bytes, value macs, value ints) {
  strata_frame frame;
  const char* const begin = (const char*)Bytes_val(bytes);
  const int code = strata_frame_parse(begin, caml_string_length(bytes), &frame);
  if (code != 0) return Val_int(code);
  memcpy(Bytes_val(macs), frame.destination, 6);
  memcpy(Bytes_val(macs) + 6, frame.source, 6);
  Field(ints, 0) = Val_long(frame.ethertype);
  Field(ints, 1) = Val_long(frame.tag_count);
  Field(ints, 2) = Val_long((const char*)frame.payload - begin);
  for (uint32_t i = 0; i < frame.tag_count; ++i) {
    Field(ints, 3 + 4 * i) = Val_long(frame.tags[i].tpid);
    Field(ints, 4 + 4 * i) = Val_long(frame.tags[i].vlan_id);
    Field(ints, 5 + 4 * i) = Val_long(frame.tags[i].priority);
    Field(ints, 6 + 4 * i) = Val_long(frame.tags[i].dei);
  }
  return Val_long((long)frame.payload_size);
}

/* --- raw sockets and rings, by name, options as ints, and groups one behind the other */

static strata_raw_socket_options socket_options(value ints, const char* groups, size_t size) {
  strata_raw_socket_options options;
  strata_raw_socket_defaults(&options);
  options.ethertype = (int32_t)Long_val(Field(ints, 0));
  options.vlan_id = (int32_t)Long_val(Field(ints, 1));
  options.send_only = byte_of(ints, 2);
  options.hear_outgoing = byte_of(ints, 3);
  options.promiscuous = byte_of(ints, 4);
  options.qdisc_bypass = byte_of(ints, 5);
  options.fanout_group = (int32_t)Long_val(Field(ints, 6));
  options.fanout_mode = byte_of(ints, 7);
  options.priority = (int8_t)Long_val(Field(ints, 8));
  options.receive_buffer = (uint32_t)Long_val(Field(ints, 9));
  options.send_buffer = (uint32_t)Long_val(Field(ints, 10));
  options.multicast = (const uint8_t*)groups;
  options.multicast_count = size / 6;
  return options;
}

static void close_raw(void* which) { strata_raw_socket_close(which); }
static int fd_of_raw(const void* which) { return strata_raw_socket_fd(which); }
static void close_ring(void* which) { strata_ring_close(which); }
static int fd_of_ring(const void* which) { return strata_ring_fd(which); }

/* The daemon may take its time: what it is asked is copied, and the runtime lock given up. */
value xsk_raw_open(value blank, value name, value ints, value groups, value daemon_socket) {
  CAMLparam5(blank, name, ints, groups, daemon_socket);
  strata_raw_socket* opened = NULL;
  char* const interface_name = caml_stat_strdup(String_val(name));
  const size_t size = caml_string_length(groups);
  char* const copied = caml_stat_alloc(size + 1);
  char* const daemon =
      Is_some(daemon_socket) ? caml_stat_strdup(String_val(Some_val(daemon_socket))) : NULL;
  memcpy(copied, String_val(groups), size);
  const int is_by_daemon = Is_some(daemon_socket);
  const strata_raw_socket_options options = socket_options(ints, copied, size);
  caml_enter_blocking_section();
  const int code = is_by_daemon
                       ? strata_raw_socket_open_through_daemon(*daemon == 0 ? NULL : daemon,
                                                               interface_name, &options, &opened)
                       : strata_raw_socket_open(interface_name, &options, &opened);
  caml_leave_blocking_section();
  caml_stat_free(interface_name);
  caml_stat_free(copied);
  caml_stat_free(daemon);
  if (code != 0) CAMLreturn(Val_int(code));
  const int adopted = xsk_device_adopt(blank, opened, close_raw, fd_of_raw);
  if (adopted != 0) CAMLreturn(Val_int(adopted));
  const size_t mtu = strata_raw_socket_mtu(opened);
  Device_body(blank)->slot_size = (mtu > largest_usual ? mtu : largest_usual) + room_for_head;
  CAMLreturn(Val_int(0));
}

value xsk_ring_open(value blank, value name, value ints, value groups, value kinds) {
  const strata_raw_socket_options socket =
      socket_options(ints, String_val(groups), caml_string_length(groups));
  strata_ring_options options;
  strata_ring* opened = NULL;
  strata_ring_defaults(&options);
  options.socket = &socket;
  options.kind = (uint32_t)Long_val(Field(kinds, 0));
  options.block_size = (uint32_t)Long_val(Field(kinds, 1));
  options.block_count = (uint32_t)Long_val(Field(kinds, 2));
  options.block_timeout_ms = (uint32_t)Long_val(Field(kinds, 3));
  options.send_slots = (uint32_t)Long_val(Field(kinds, 4));
  options.slots = (uint32_t)Long_val(Field(kinds, 5));
  const int code = strata_ring_open(String_val(name), &options, &opened);
  return Val_int(code != 0 ? code : xsk_device_adopt(blank, opened, close_ring, fd_of_ring));
}

value xsk_raw_mac(value handle, value to) {
  if (Device_body(handle) == NULL) return Val_int(XSK_CLOSED);
  strata_raw_socket_mac(Device_body(handle)->handle, Bytes_val(to));
  return Val_int(0);
}

XSK_QUESTION(xsk_raw_mtu, Device_body, strata_raw_socket_mtu(Device_body(handle)->handle))

static int send_by_raw(void* which, const void* bytes, size_t size) {
  return strata_raw_socket_send(which, bytes, size);
}

/* Waits for room. */
value xsk_raw_send(value handle, value frame) {
  return xsk_device_send(handle, frame, send_by_raw);
}

/* Never waits, so the frames stay where they are. */
value xsk_frames_send(value handle, value is_ring, value frames, value pos, value nb) {
  struct iovec part[some];
  struct device_body* const body = Device_body(handle);
  const long count = Long_val(nb);
  long done = 0;
  if (body == NULL) return Val_int(XSK_CLOSED);
  if (body->is_busy) return Val_int(XSK_BUSY);
  while (done < count) {
    const long next = count - done < some ? count - done : some;
    size_t sent = 0;
    for (long i = 0; i < next; ++i) {
      const value frame = Field(frames, Long_val(pos) + done + i);
      part[i].iov_base = Bytes_val(frame);
      part[i].iov_len = caml_string_length(frame);
    }
    const int code = Bool_val(is_ring)
                         ? strata_ring_send(body->handle, part, (size_t)next, &sent)
                         : strata_raw_socket_send_batch(body->handle, part, (size_t)next, &sent);
    if (code != 0 && done == 0) return Val_int(code);
    done += (long)sent;
    if (code != 0 || (long)sent < next) break;
  }
  return Val_long(done);
}

/* What is there now, without waiting. */
static int take(struct device_body* body, int is_ring, strata_received* frames, size_t most,
                size_t* got) {
  strata_slot slots[some];
  if (is_ring) return strata_ring_receive(body->handle, frames, most, 0, got);
  if (body->memory == NULL) body->memory = malloc(some * body->slot_size);
  if (body->memory == NULL) return -ENOMEM;
  for (size_t i = 0; i < most; ++i) {
    slots[i].memory = (char*)body->memory + i * body->slot_size;
    slots[i].size = body->slot_size;
  }
  const int code = strata_raw_socket_receive_batch(body->handle, slots, most, 0, got);
  for (size_t i = 0; code == 0 && i < *got; ++i) frames[i] = slots[i].frame;
  return code;
}

/* Puts new byte strings into the array `to`. Up to 64 at once. */
value xsk_frames_receive(value handle, value is_ring, value to, value pos_and_nb,
                         value timeout_ms) {
  CAMLparam2(handle, to);
  CAMLlocal1(copy);
  strata_received frames[some];
  value raised = Val_unit;
  size_t got = 0;
  const long pos = Long_val(Field(pos_and_nb, 0));
  const long nb = Long_val(Field(pos_and_nb, 1));
  const size_t most = (size_t)(nb < some ? nb : some);
  const int ring = Bool_val(is_ring);
  const intnat limit = Long_val(timeout_ms);
  struct device_body* body = Device_body(handle);
  if (body == NULL) CAMLreturn(Val_int(XSK_CLOSED));
  int code = take(body, ring, frames, most, &got);
  if (code == 0 && got == 0 && most != 0 && limit != 0) {
    code = xsk_device_wait(body, limit, &raised);
    if (Is_exception_result(raised)) caml_raise(Extract_exception(raised));
    if (code > 0) code = take(body, ring, frames, most, &got);
  }
  if (code != 0) CAMLreturn(Val_int(code));
  /* Allocating may run finalisers and signal handlers, which may close or receive by this very
   * value: what was lent is copied out of reach first. */
  char* copies[some];
  for (size_t i = 0; i < got; ++i) {
    copies[i] = malloc(frames[i].size + 1);
    if (copies[i] == NULL) {
      got = i;
      break;
    }
    memcpy(copies[i], frames[i].bytes, frames[i].size);
  }
  size_t none = 0;
  if (ring) strata_ring_receive(body->handle, NULL, 0, 0, &none); /* gives them back */
  for (size_t i = 0; i < got; ++i) {
    copy = caml_alloc_initialized_string(frames[i].size, copies[i]);
    free(copies[i]);
    Store_field(to, pos + (long)i, copy);
  }
  CAMLreturn(Val_long((long)got));
}

value xsk_frames_statistics(value handle, value is_ring, value to) {
  uint64_t received = 0;
  uint64_t dropped = 0;
  struct device_body* const body = Device_body(handle);
  if (body == NULL) return Val_int(XSK_CLOSED);
  const int code = Bool_val(is_ring)
                       ? strata_ring_statistics(body->handle, &received, &dropped)
                       : strata_raw_socket_statistics(body->handle, &received, &dropped);
  Field(to, 0) = Val_long((long)received);
  Field(to, 1) = Val_long((long)dropped);
  return Val_int(code);
}
