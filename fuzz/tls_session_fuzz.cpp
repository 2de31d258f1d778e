// Any bytes, cut anywhere, that a server's session hears first: a handshake, or one error. And a
// handshake of two sessions in which bytes are altered: data comes whole or not at all.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "net/tls/authority.hpp"
#include "net/tls/session.hpp"

namespace {

using strata::byte_span;
using strata::net::tls_context;
using strata::net::tls_session;

struct contexts {
  std::shared_ptr<const tls_context> server;
  std::shared_ptr<const tls_context> client;
};

const contexts& both() {
  static const contexts made = [] {
    std::string folder = std::filesystem::temp_directory_path() / "strata-tls-fuzz-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) std::abort();
    const auto authority = strata::net::open_authority(folder);
    const auto files = strata::net::issue_certificate(*authority, {.names = {"localhost"}}, folder);
    contexts of{*tls_context::for_server({.certificates = {{files->certificate, files->key}}}),
                *tls_context::for_client({.ca = authority->certificate})};
    std::filesystem::remove_all(folder);
    return of;
  }();
  return made;
}

void hear_strangers(byte_span input, std::size_t piece) {
  const auto made = tls_session::make(both().server, {});
  auto& session = **made;
  bool goes_on = true;
  while (goes_on && !input.empty()) {
    auto part = input.first(std::min(piece, input.size()));
    input = input.subspan(part.size());
    const auto said = session.shake_hands(part);
    goes_on = said.has_value();
    if (goes_on && *said) std::abort();  // nobody guesses a handshake
  }
  (void)session.seal({});
  if (!session.seal_end().empty()) std::abort();
}

/// Each pair of bytes of `input` alters one byte of what is said: which, and how.
void hear_altered(byte_span input) {
  auto client = std::move(*tls_session::make(both().client, "localhost"));
  auto server = std::move(*tls_session::make(both().server, {}));
  bool is_done[2] = {false, false};
  byte_span nothing;
  if (!client->shake_hands(nothing)) std::abort();
  for (int step = 0; step < 6; ++step) {
    auto& from = step % 2 == 0 ? *client : *server;
    auto& to = step % 2 == 0 ? *server : *client;
    const std::string_view data = is_done[step % 2] ? "some data" : "";
    const auto said = strata::loop::slice::copy_of(strata::as_bytes(data));
    const auto sealed = from.seal({&said, 1});
    std::string wire(strata::as_text(sealed.bytes()));
    if (input.size() >= 2 && !wire.empty()) {
      const auto at = std::to_integer<std::size_t>(input[0]) * wire.size() / 256;
      wire[at] = static_cast<char>(wire[at] ^ std::to_integer<char>(input[1]));
      input = input.subspan(2);
    }
    auto bytes = strata::as_bytes(wire);
    auto& done = is_done[(step + 1) % 2];
    if (!done) {
      const auto heard = to.shake_hands(bytes);
      if (!heard) return;
      done = *heard;
    }
    if (!done) continue;
    const auto plain = to.open(bytes);
    if (!plain.empty() && strata::as_text(plain.bytes()) != "some data") std::abort();
    if (to.failed()) return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const auto input = std::as_bytes(std::span(data + 2, size - 2));
  if (data[0] % 2 == 0) {
    hear_strangers(input, 1U + data[1]);
  } else {
    hear_altered(input);
  }
  return 0;
}
