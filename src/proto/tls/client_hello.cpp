#include "proto/tls/client_hello.hpp"

#include <cstdint>

#include "text/word.hpp"

namespace strata::proto {

namespace {

constexpr unsigned handshake_record = 22;
constexpr std::size_t record_head = 5;
constexpr std::size_t longest_record = (1U << 14U) + 2048;  // RFC 5246 section 6.2.3
constexpr unsigned client_hello = 1;
constexpr std::size_t message_head = 4;
constexpr unsigned server_name_extension = 0;
constexpr unsigned host_name = 0;

std::unexpected<error> no_hello(std::string reason) {
  return failure(errc::malformed, "read a TLS ClientHello", std::move(reason));
}

/// Reads from the front; once it runs out of bytes it stays failed, and returns empty results.
class reader {
 public:
  explicit reader(byte_span bytes) : rest_(bytes) {}

  [[nodiscard]] bool failed() const { return has_failed_; }
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  byte_span take(std::size_t count) {
    if (count > rest_.size()) {
      has_failed_ = true;
      rest_ = {};
      return {};
    }
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  std::size_t number(std::size_t bytes) {
    std::size_t value = 0;
    for (const auto each : take(bytes)) value = value << 8U | std::to_integer<std::size_t>(each);
    return value;
  }
  /// Reads a vector, whose length stands before it in `length_bytes` bytes.
  byte_span vector(std::size_t length_bytes) { return take(number(length_bytes)); }

 private:
  byte_span rest_;
  bool has_failed_ = false;
};

result<std::string> name_in(byte_span extension) {
  reader list(extension);
  reader names(list.vector(2));
  while (!names.empty()) {
    const auto kind = names.number(1);
    const auto name = names.vector(2);
    if (names.failed()) break;
    if (kind != host_name) continue;
    const auto text = as_text(name);
    if (text.empty() || text.contains('\0')) {
      return no_hello("its server name is invalid");
    }
    return text::in_small_letters(std::string(text));
  }
  if (list.failed() || names.failed()) return no_hello("its list of names is truncated");
  return std::string();
}

result<std::string> name_of(byte_span message) {
  reader hello(message);
  hello.take(2 + 32);  // version, random
  hello.vector(1);     // session
  hello.vector(2);     // cipher suites
  hello.vector(1);     // compression methods
  if (hello.failed()) return no_hello("it is truncated");
  if (hello.empty()) return std::string();
  reader extensions(hello.vector(2));
  if (hello.failed()) return no_hello("its extensions are truncated");
  while (!extensions.empty()) {
    const auto kind = extensions.number(2);
    const auto body = extensions.vector(2);
    if (extensions.failed()) return no_hello("an extension is truncated");
    if (kind == server_name_extension) return name_in(body);
  }
  return std::string();
}

}  // namespace

// The ClientHello may be split into several records.
result<std::optional<std::string>> read_server_name(byte_span first) {
  std::string message;
  while (!first.empty()) {
    if (std::to_integer<unsigned>(first[0]) != handshake_record) {
      return no_hello("it is not a handshake record");
    }
    if (first.size() >= 2 && std::to_integer<unsigned>(first[1]) != 3) {
      return no_hello("its version is not a TLS version");
    }
    if (first.size() < record_head) return std::nullopt;
    const auto size = reader(first.subspan(3)).number(2);
    if (size == 0 || size > longest_record) return no_hello("a record's length is invalid");
    const auto there = first.subspan(record_head);
    const auto part = there.first(std::min(size, there.size()));
    if (there.empty()) return std::nullopt;
    message += as_text(part);
    if (static_cast<unsigned char>(message[0]) != client_hello) {
      return no_hello("the handshake starts with another message");
    }
    if (message.size() >= message_head) {
      reader head(as_bytes(message).subspan(1));
      const auto length = head.number(3);
      if (length > longest_client_hello) {
        return failure(errc::limit_exceeded, "read a TLS ClientHello", "it is longer than 32 KiB");
      }
      if (message.size() - message_head >= length) {
        auto name = name_of(as_bytes(message).subspan(message_head, length));
        if (!name) return std::unexpected(name.error());
        return std::move(*name);
      }
    }
    if (there.size() < size) return std::nullopt;
    first = there.subspan(size);
  }
  return std::nullopt;
}

}  // namespace strata::proto
