// Building blocks of typed commands, which `strata nl generate` writes from a family's YNL
// specification (the kernel's Documentation/userspace-api/netlink).
//
// A request is written directly into its connection's memory, and a reply is a view of it: nothing
// is allocated, and both are valid until the connection's next call. A value that is missing, or
// not in the specified form, is nullopt, or is skipped in a range; no input makes a view read out
// of bounds. For one thread at a time. Linux 6.1 or newer.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "strata/nl/generic.hpp"

namespace strata::nl::typed {

/// The attributes of one type, or all attributes in an array. Form is the form of each; attributes
/// of another form are skipped.
template <class Form>
class range {
 public:
  using value_type = Form::value;

  range() = default;
  explicit range(wire::netlink_attributes attributes, std::optional<std::uint16_t> type = {})
      : in_(attributes), type_(type) {}

  class iterator {
   public:
    using value_type = Form::value;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    explicit iterator(const range& range) : at_(range.in_.begin()), type_(range.type_) { seek(); }
    const value_type& operator*() const { return *value_; }
    const value_type* operator->() const { return &*value_; }
    iterator& operator++() {
      ++at_;
      seek();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t /*end*/) const { return !value_; }

   private:
    void seek() {
      for (value_.reset(); at_ != std::default_sentinel; ++at_) {
        if (type_ && at_->type() != *type_) continue;
        value_ = Form::read(*at_);
        if (value_) return;
      }
    }
    wire::netlink_attributes::iterator at_;
    std::optional<std::uint16_t> type_;
    std::optional<value_type> value_;
  };
  [[nodiscard]] iterator begin() const { return iterator(*this); }
  [[nodiscard]] static std::default_sentinel_t end() { return {}; }
  [[nodiscard]] bool empty() const { return begin() == end(); }

 private:
  wire::netlink_attributes in_;
  std::optional<std::uint16_t> type_;
};

/// The forms of values define how each is read and written.
template <std::integral Number, std::endian Order = std::endian::native>
struct number {
  using value = Number;
  static std::optional<Number> read(const wire::netlink_attribute& attribute) {
    const auto found = attribute.number<Number>();
    return found ? std::optional(ordered(*found)) : std::nullopt;
  }
  static void write(wire::netlink_writer& writer, std::uint16_t type, Number number) {
    writer.put_number(type, ordered(number));
  }

 private:
  static constexpr Number ordered(Number number) {
    return Order == std::endian::native ? number : std::byteswap(number);
  }
};

/// A number of the width that its sender chose.
template <std::integral Narrow, std::integral Wide>
struct any_number {
  using value = Wide;
  static std::optional<Wide> read(const wire::netlink_attribute& attribute) {
    if (const auto found = attribute.number<Narrow>()) return *found;
    return attribute.number<Wide>();
  }
  static void write(wire::netlink_writer& writer, std::uint16_t type, Wide wide) {
    if (std::in_range<Narrow>(wide)) {
      writer.put_number(type, static_cast<Narrow>(wide));
    } else {
      writer.put_number(type, wide);
    }
  }
};

/// An enum; it may also hold numbers that the specification does not name.
template <class Enum, class Number>
struct named {
  using value = Enum;
  static std::optional<Enum> read(const wire::netlink_attribute& attribute) {
    const auto found = Number::read(attribute);
    if (!found || !std::in_range<std::underlying_type_t<Enum>>(*found)) return {};
    return static_cast<Enum>(*found);
  }
  static void write(wire::netlink_writer& writer, std::uint16_t type, Enum what) {
    Number::write(writer, type, static_cast<Number::value>(what));
  }
};

struct text {
  using value = std::string_view;
  static std::optional<std::string_view> read(const wire::netlink_attribute& attribute) {
    return attribute.text();
  }
  static void write(wire::netlink_writer& writer, std::uint16_t type, std::string_view text) {
    writer.put_text(type, text);
  }
};

struct bytes {
  using value = byte_span;
  static std::optional<byte_span> read(const wire::netlink_attribute& attribute) {
    return attribute.value();
  }
  static void write(wire::netlink_writer& writer, std::uint16_t type, byte_span bytes) {
    writer.put(type, bytes);
  }
};

/// Bits, and a mask of the valid ones.
struct bitfield32 {
  std::uint32_t value = 0;
  std::uint32_t selector = 0;

  bool operator==(const bitfield32&) const = default;
};
struct bits {
  using value = bitfield32;
  static std::optional<bitfield32> read(const wire::netlink_attribute& attribute) {
    bitfield32 made;
    if (attribute.value().size() != sizeof made) return {};
    std::memcpy(&made, attribute.value().data(), sizeof made);
    return made;
  }
  static void write(wire::netlink_writer& writer, std::uint16_t type, bitfield32 bitfield32) {
    writer.put(type, std::as_bytes(std::span(&bitfield32, 1)));
  }
};

template <class View>
struct nest {
  using value = View;
  static std::optional<View> read(const wire::netlink_attribute& attribute) {
    return View(wire::netlink_attributes(attribute.value()));
  }
};

template <class Form>
struct array {
  using value = range<Form>;
  static std::optional<range<Form>> read(const wire::netlink_attribute& attribute) {
    return range<Form>(wire::netlink_attributes(attribute.value()));
  }
};

/// An element of an array whose number has a meaning, such as the command or the policy.
template <class Value>
struct numbered {
  std::uint16_t number = 0;
  Value value;
};
template <class Form>
struct keyed {
  using value = numbered<typename Form::value>;
  static std::optional<value> read(const wire::netlink_attribute& attribute) {
    auto found = Form::read(attribute);
    if (!found) return {};
    return value{attribute.type(), std::move(*found)};
  }
};

/// A view of the attributes of a set.
class view {
 public:
  explicit view(wire::netlink_attributes attributes) : in_(attributes) {}
  [[nodiscard]] const wire::netlink_attributes& attributes() const { return in_; }

 protected:
  [[nodiscard]] bool has(std::uint16_t type) const { return in_.find(type).has_value(); }
  template <class Form>
  [[nodiscard]] std::optional<typename Form::value> first(std::uint16_t type) const {
    const auto found = in_.find(type);
    return found ? Form::read(*found) : std::nullopt;
  }
  template <class Form>
  [[nodiscard]] range<Form> all(std::uint16_t type) const {
    return range<Form>(in_, type);
  }
  template <class Form>
  [[nodiscard]] range<Form> elements(std::uint16_t type) const {
    return range<Form>(in_.nest(type));
  }

 private:
  wire::netlink_attributes in_;
};

/// Parses a message of the command `Message`; nullopt if it is of another command, or is truncated.
template <class Message>
[[nodiscard]] std::optional<Message> parse(const wire::netlink_message& source) {
  constexpr std::uint16_t least_family = 16;
  const auto message = wire::genl_message::parse(source);
  const bool is_it =
      message && source.header().type >= least_family && message->command == Message::command;
  return is_it ? std::optional(Message(message->attributes)) : std::nullopt;
}

/// Writes the attributes of a set into a nest.
class writer {
 public:
  explicit writer(wire::netlink_writer& writer) : to_(&writer) {}

 protected:
  [[nodiscard]] wire::netlink_writer& to() { return *to_; }

 private:
  wire::netlink_writer* to_;
};

template <class Writer, std::invocable<Writer&> Fill>
void write_nest(wire::netlink_writer& writer, std::uint16_t type, Fill&& fill) {
  writer.open_nest(type);
  Writer within(writer);
  std::forward<Fill>(fill)(within);
  writer.close_nest();
}

template <class Form>
void write_elements(wire::netlink_writer& writer, std::uint16_t type,
                    std::span<const typename Form::value> all) {
  writer.open_nest(type);
  std::uint16_t number = 0;
  for (const auto& each : all) Form::write(writer, number++, each);
  writer.close_nest();
}

/// Writes nests into an array.
template <class Writer>
class array_writer : public writer {
 public:
  using writer::writer;
  template <std::invocable<Writer&> Fill>
  array_writer& add(Fill&& fill) {
    write_nest<Writer>(to(), number_++, std::forward<Fill>(fill));
    return *this;
  }

 private:
  std::uint16_t number_ = 0;
};

/// A message being written. The connection has room for one at a time.
class request {
 public:
  request(connection& connection, std::uint16_t family, std::uint16_t flags, std::uint8_t command,
          std::uint8_t version);
  /// The bytes to send, except for the sequence number; nullopt if some part had no room.
  [[nodiscard]] std::optional<byte_span> bytes() const { return to_.bytes(); }

 protected:
  [[nodiscard]] wire::netlink_writer& to() { return to_; }
  /// Sends the request. Errors: as `connection::ask`; malformed if the reply is of another command.
  template <class Reply>
  [[nodiscard]] result<Reply> ask_for(std::string_view operation) {
    const auto reply = over_->ask(to_, operation);
    if (!reply) return std::unexpected(reply.error());
    if (auto parsed = parse<Reply>(*reply)) return *parsed;
    return std::unexpected(other_reply(operation));
  }
  [[nodiscard]] result<void> ask_for_ack(std::string_view operation);
  /// Sends the request as a dump. Errors: as `connection::dump`; malformed if a message was of
  /// another command, which is skipped.
  template <class Reply, std::invocable<const Reply&> Each>
  [[nodiscard]] result<void> dump(std::string_view operation, Each&& each) {
    bool is_whole = true;
    auto done = over_->dump(to_, operation, [&](const wire::netlink_message& message) {
      const auto parsed = parse<Reply>(message);
      is_whole = is_whole && parsed;
      if (parsed) each(*parsed);
    });
    if (done && !is_whole) return std::unexpected(other_reply(operation));
    return done;
  }

 private:
  [[nodiscard]] static error other_reply(std::string_view operation);

  connection* over_;
  wire::netlink_writer to_;
};

/// A connection and the number of one family.
class client {
 public:
  client(generic generic, std::uint16_t family_id, std::string_view family)
      : on_(std::move(generic)), family_id_(family_id), family_(family) {}

  [[nodiscard]] generic& on() { return on_; }
  [[nodiscard]] connection& over() { return on_.over(); }
  [[nodiscard]] std::uint16_t family_id() const { return family_id_; }
  /// Joins that group of the family; read its messages with `over().try_event()`. Errors:
  /// not_found.
  [[nodiscard]] result<void> join(std::string_view group);

 protected:
  /// Errors: as `generic::open` and `generic::resolve`.
  template <class Client>
  [[nodiscard]] static result<Client> open_as(std::string_view family,
                                              const connection_options& options) {
    auto on = generic::open(options);
    if (!on) return std::unexpected(on.error());
    const auto id = on->resolve(family);
    if (!id) return std::unexpected(id.error());
    return Client(std::move(*on), *id, family);
  }

 private:
  generic on_;
  std::uint16_t family_id_;
  std::string family_;
};

}  // namespace strata::nl::typed
