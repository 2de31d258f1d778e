#include "strata/wire/netlink.hpp"

#include <algorithm>
#include <cstring>

namespace strata::wire {

namespace {

// Attributes of NLMSG_ERROR's extended ACK (NLMSGERR_ATTR_…).
enum ack_attribute : std::uint16_t {
  ack_text = 1,
  ack_offset = 2,
  ack_cookie = 3,
  ack_missing_type = 5,
  ack_missing_nest = 6,
};

}  // namespace

std::optional<netlink_message> netlink_message::parse(byte_span bytes) {
  if (bytes.size() < header_size) return {};
  netlink_header header;
  static_assert(sizeof header == header_size);
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.size < header_size || header.size > bytes.size()) return {};
  return netlink_message(header, bytes.first(header.size));
}

netlink_attributes netlink_message::attributes(std::size_t family_header) const {
  const auto all = payload();
  const auto skipped = netlink_aligned(family_header);
  return all.size() < skipped ? netlink_attributes() : netlink_attributes(all.subspan(skipped));
}

byte_span netlink_message::rest_of(byte_span bytes) const {
  return bytes.subspan(std::min(netlink_aligned(header_.size), bytes.size()));
}

std::optional<netlink_ack> netlink_ack::parse(const netlink_message& message) {
  const auto payload = message.payload();
  const bool is_error = message.is(netlink_control::error);
  std::int32_t code = 0;
  if ((!is_error && !message.is(netlink_control::done)) || payload.size() < sizeof code) return {};
  std::memcpy(&code, payload.data(), sizeof code);
  netlink_ack ack{.error_number = code < 0 && code != INT32_MIN ? -code : 0};
  if (!message.has(netlink_flag::ack_tlvs)) return ack;
  auto rest = payload.subspan(sizeof code);
  if (is_error) {
    // The request follows: its header, or all of it.
    netlink_header request;
    if (rest.size() < sizeof request) return ack;
    std::memcpy(&request, rest.data(), sizeof request);
    const auto size = message.has(netlink_flag::capped)
                          ? sizeof request
                          : std::max<std::size_t>(netlink_aligned(request.size), sizeof request);
    rest = rest.subspan(std::min(size, rest.size()));
  }
  const netlink_attributes all(rest);
  if (const auto text = all.find(ack_text)) ack.text = text->text();
  if (const auto offset = all.find(ack_offset)) ack.offset = offset->number<std::uint32_t>();
  if (const auto type = all.find(ack_missing_type)) {
    ack.missing_type = type->number<std::uint32_t>();
  }
  if (const auto nest = all.find(ack_missing_nest)) {
    ack.missing_nest = nest->number<std::uint32_t>();
  }
  if (const auto cookie = all.find(ack_cookie)) ack.cookie = cookie->value();
  return ack;
}

std::byte* netlink_writer::room_for(std::size_t size) {
  const auto padded = netlink_aligned(size);
  if (is_full_ || padded > memory_.size() - size_) {
    is_full_ = true;
    return nullptr;
  }
  auto* const at = memory_.data() + size_;
  std::fill(at + size, at + padded, std::byte{0});
  size_ += padded;
  return at;
}

void netlink_writer::write_u16(std::size_t offset, std::uint16_t value) {
  std::memcpy(memory_.data() + offset, &value, sizeof value);
}

void netlink_writer::write_size() {
  if (is_full_) return;
  const auto size = static_cast<std::uint32_t>(size_ - message_);
  std::memcpy(memory_.data() + message_, &size, sizeof size);
}

netlink_writer& netlink_writer::begin(std::uint16_t type, std::uint16_t flags) {
  const netlink_header header{.type = type, .flags = flags};
  message_ = size_;
  depth_ = 0;
  if (auto* const at = room_for(sizeof header)) std::memcpy(at, &header, sizeof header);
  write_size();
  return *this;
}

netlink_writer& netlink_writer::put_header(byte_span header) {
  if (auto* const at = room_for(header.size())) copy_bytes(header, {at, header.size()});
  write_size();
  return *this;
}

netlink_writer& netlink_writer::put(std::uint16_t type, byte_span value) {
  const auto begins = size_;
  const auto size = netlink_attribute::header_size + value.size();
  if (size > UINT16_MAX) is_full_ = true;
  if (auto* const at = room_for(size)) {
    write_u16(begins, static_cast<std::uint16_t>(size));
    write_u16(begins + 2, type);
    copy_bytes(value, {at + netlink_attribute::header_size, value.size()});
  }
  write_size();
  return *this;
}

netlink_writer& netlink_writer::put_text(std::uint16_t type, std::string_view text) {
  const auto begins = size_;
  const auto size = netlink_attribute::header_size + text.size() + 1;
  if (size > UINT16_MAX) is_full_ = true;
  if (auto* const at = room_for(size)) {
    write_u16(begins, static_cast<std::uint16_t>(size));
    write_u16(begins + 2, type);
    copy_bytes(as_bytes(text), {at + netlink_attribute::header_size, text.size()});
    at[size - 1] = std::byte{0};
  }
  write_size();
  return *this;
}

netlink_writer& netlink_writer::open_nest(std::uint16_t type) {
  if (depth_ == deepest) is_full_ = true;
  if (!is_full_) nests_[depth_++] = size_;
  return put(type | netlink_attribute::nested_bit, {});
}

netlink_writer& netlink_writer::close_nest() {
  if (is_full_ || depth_ == 0) return *this;
  const auto begins = nests_[--depth_];
  if (size_ - begins > UINT16_MAX) {
    is_full_ = true;
  } else {
    write_u16(begins, static_cast<std::uint16_t>(size_ - begins));
  }
  return *this;
}

std::optional<byte_span> netlink_writer::bytes() const {
  if (is_full_) return {};
  return memory_.first(size_);
}

void netlink_writer::set_sequence(std::uint32_t sequence) {
  constexpr std::size_t place = 8;
  if (size_ >= message_ + netlink_message::header_size) {
    std::memcpy(memory_.data() + message_ + place, &sequence, sizeof sequence);
  }
}

void netlink_writer::add_flags(std::uint16_t flags) {
  constexpr std::size_t place = 6;
  if (size_ < message_ + netlink_message::header_size) return;
  std::uint16_t all = 0;
  std::memcpy(&all, memory_.data() + message_ + place, sizeof all);
  write_u16(message_ + place, all | flags);
}

}  // namespace strata::wire
