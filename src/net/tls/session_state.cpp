#include "net/tls/session_state.hpp"

#include <algorithm>

namespace strata::net {

namespace {

tls_session::state& state_of(BIO* wire) {
  return *static_cast<tls_session::state*>(BIO_get_data(wire));
}

int read_wire(BIO* wire, char* bytes, int size) {
  auto& of = state_of(wire);
  BIO_clear_retry_flags(wire);
  if (of.input.empty()) {
    BIO_set_retry_read(wire);
    return -1;
  }
  const auto part = of.input.first(std::min(of.input.size(), static_cast<std::size_t>(size)));
  copy_bytes(part, {reinterpret_cast<std::byte*>(bytes), part.size()});
  of.input = of.input.subspan(part.size());
  of.records.pass(part);
  return static_cast<int>(part.size());
}

int write_wire(BIO* wire, const char* bytes, int size) {
  BIO_clear_retry_flags(wire);
  state_of(wire).out.append(as_bytes({bytes, static_cast<std::size_t>(size)}));
  return size;
}

long control_wire(BIO* /*wire*/, int what, long /*number*/, void* /*more*/) {
  return what == BIO_CTRL_FLUSH ? 1 : 0;
}

// One for the process; it lives as long as the process.
const BIO_METHOD* wire_method() {
  static const auto* const method = [] {
    auto* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "strata");
    BIO_meth_set_read(made, read_wire);
    BIO_meth_set_write(made, write_wire);
    BIO_meth_set_ctrl(made, control_wire);
    return made;
  }();
  return method;
}

}  // namespace

void record_counter::pass(byte_span bytes) {
  while (!bytes.empty()) {
    if (body_left_ != 0) {
      const auto part = std::min(body_left_, bytes.size());
      body_left_ -= part;
      unfinished_ += part;
      bytes = bytes.subspan(part);
    } else {
      header_[header_bytes_++] = bytes.front();
      ++unfinished_;
      bytes = bytes.subspan(1);
      if (header_bytes_ != header_size) continue;
      header_bytes_ = 0;
      ++begun_;
      body_left_ =
          std::to_integer<std::size_t>(header_[3]) << 8U | std::to_integer<std::size_t>(header_[4]);
    }
    if (header_bytes_ == 0 && body_left_ == 0) unfinished_ = 0;
  }
}

outgoing::~outgoing() {
  if (held_ != nullptr) held_->release();
}

void outgoing::reserve(std::size_t more) {
  if (held_ != nullptr && held_->room() >= more) return;
  const auto wanted = std::max(size() + more, 2 * size());
  auto* const larger = loop::chunk::make(static_cast<std::uint32_t>(wanted));
  if (held_ != nullptr) {
    larger->append({held_->data(), held_->size()});
    held_->release();
  }
  held_ = larger;
}

void outgoing::append(byte_span bytes) {
  reserve(bytes.size());
  held_->append(bytes);
}

loop::slice outgoing::take() {
  if (held_ == nullptr) return {};
  auto* const taken = std::exchange(held_, nullptr);
  loop::slice all(*taken, 0, taken->size());
  taken->release();
  return all;
}

bool connect_wire(tls_session::state& state) {
  BIO* const wire = BIO_new(wire_method());
  if (wire == nullptr) return false;
  BIO_set_data(wire, &state);
  BIO_set_init(wire, 1);
  SSL_set_bio(state.ssl.get(), wire, wire);
  return true;
}

}  // namespace strata::net
