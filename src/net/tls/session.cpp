#include "net/tls/session.hpp"

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "net/tls/certificate_file.hpp"
#include "net/tls/context_parts.hpp"
#include "net/tls/session_state.hpp"
#include "net/tls/trouble.hpp"

namespace strata::net {

namespace {

constexpr std::size_t record_size = SSL3_RT_MAX_PLAIN_LENGTH;
// What a record adds to its data, at most, whatever the cipher.
constexpr std::size_t record_overhead = 128;
constexpr std::size_t longest_subject = 512;
constexpr std::size_t longest_handshake = 128U << 10U;
// Records in a row without data. A few are legitimate: tickets, key updates.
constexpr std::size_t most_idle_records = 64;
// Bytes of answers queued for a peer that asks and does not read.
constexpr std::size_t most_owed = 64U << 10U;

// Memory for one read, which frees itself when it is returned.
class plain_memory final : public loop::buffer::pool {
 public:
  static plain_memory* make(std::size_t size) {
    void* const memory = ::operator new(sizeof(plain_memory) + size);
    return new (memory) plain_memory;
  }
  [[nodiscard]] std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
  void give_back(std::uint32_t /*id*/) override {
    this->~plain_memory();
    ::operator delete(this);
  }

 private:
  plain_memory() = default;
  ~plain_memory() = default;
};

error failure_of(const tls_session::state& state, std::string reason) {
  const auto whom = state.host.empty() ? std::string{} : " from " + state.host;
  return {.code = errc::malformed,
          .operation = "receive by TLS" + whom,
          .reason = std::move(reason),
          .remedy = {},
          .offset = {}};
}

// The subject is kept as long as the connection, and is logged. An authority that issues
// certificates to others may not limit the length of names.
std::string subject_of(const X509& shown) {
  auto text = text_of(X509_get_subject_name(&shown));
  if (text.size() <= longest_subject) return text;
  auto end = longest_subject;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
  return text + "...";
}

tls_info agreed_on(const tls_session::state& state) {
  auto* const ssl = state.ssl.get();
  tls_info info{.protocol = SSL_get_version(ssl), .cipher = SSL_get_cipher_name(ssl)};
  const unsigned char* application = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl, &application, &size);
  if (size != 0) info.application.assign(reinterpret_cast<const char*>(application), size);
  if (const auto* const name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name)) {
    info.server_name = name;
  }
  if (const auto* const shown = SSL_get0_peer_certificate(ssl)) {
    info.peer_subject = subject_of(*shown);
    info.is_verified = SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE;
  }
  info.is_resumed = SSL_session_reused(ssl) == 1;
  return info;
}

// Sets the name that a client expects in the certificate and asks for.
bool expect_host(SSL* ssl, const std::string& host) {
  if (host.empty()) return true;
  auto* const wanted = SSL_get0_param(ssl);
  if (X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1) return true;
  ERR_clear_error();
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return X509_VERIFY_PARAM_set1_host(wanted, host.data(), host.size()) == 1 &&
         SSL_set_tlsext_host_name(ssl, host.c_str()) == 1;
}

// Keeps the refused certificate, which OpenSSL discards.
int keep_refused(int is_good, X509_STORE_CTX* store) {
  if (is_good == 1) return is_good;
  const auto* const ssl =
      static_cast<SSL*>(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto& of = *static_cast<tls_session::state*>(SSL_get_app_data(ssl));
  auto* const shown = X509_STORE_CTX_get_current_cert(store);
  if (shown != nullptr && X509_up_ref(shown) == 1) of.refused.reset(shown);
  return is_good;
}

// Writes `plain`; false if nothing more can be sealed.
bool write(SSL* ssl, byte_span plain) {
  std::size_t written = 0;
  ERR_clear_error();
  const int done = SSL_write_ex(ssl, plain.data(), plain.size(), &written);
  return done == 1 && written == plain.size();
}

}  // namespace

tls_session::tls_session(std::unique_ptr<state> state) : state_(std::move(state)) {}

tls_session::~tls_session() = default;

result<std::unique_ptr<tls_session>> tls_session::make(std::shared_ptr<const tls_context> context,
                                                       const std::string& host) {
  auto made = std::make_unique<state>();
  const auto& with = context->inner();
  made->by = std::move(context);
  ERR_clear_error();
  made->ssl.reset(SSL_new(with.context.get()));
  bool is_good = made->ssl && connect_wire(*made);
  if (is_good) {
    SSL_set_app_data(made->ssl.get(), made.get());
    const int mode = SSL_get_verify_mode(made->ssl.get());
    if (mode != SSL_VERIFY_NONE) SSL_set_verify(made->ssl.get(), mode, keep_refused);
  }
  if (is_good && with.is_server) {
    SSL_set_accept_state(made->ssl.get());
  } else if (is_good) {
    made->host = with.server_name.empty() ? host : with.server_name;
    if (made->host.empty() && !with.is_insecure) {
      return failure(errc::invalid_argument, "agree on TLS",
                     "the expected name of the server's certificate is not known",
                     "give --servername NAME");
    }
    SSL_set_connect_state(made->ssl.get());
    is_good = expect_host(made->ssl.get(), made->host);
  }
  if (!is_good) return failure(errc::system, "begin TLS", take_openssl_reason());
  return std::make_unique<tls_session>(std::move(made));
}

result<bool> tls_session::shake_hands(byte_span& sealed) {
  auto& of = *state_;
  const auto given = sealed.size();
  of.input = sealed;
  ERR_clear_error();
  const int code = SSL_do_handshake(of.ssl.get());
  sealed = std::exchange(of.input, {});
  if (code == 1) {
    of.is_done = true;
    of.records.forget();
    of.info = agreed_on(of);
    return true;
  }
  if (SSL_get_error(of.ssl.get(), code) != SSL_ERROR_WANT_READ) {
    of.failed = handshake_trouble(of);
    return std::unexpected(*of.failed);
  }
  of.handshake_bytes += given - sealed.size();
  if (of.handshake_bytes > longest_handshake) {
    of.failed = failure_of(of, "its handshake is longer than 128 KiB");
    return std::unexpected(*of.failed);
  }
  return false;
}

loop::buffer tls_session::open(byte_span sealed) {
  auto& of = *state_;
  if (of.failed || of.peer_has_ended) return {};
  // The most that can come out: the kept part of a record, and the rest. One more, so that OpenSSL
  // is never asked for 0 bytes.
  const auto room = of.records.unfinished() + sealed.size() + 1;
  auto* const memory = plain_memory::make(room);
  std::size_t filled = 0;
  of.input = sealed;
  for (;;) {
    std::size_t got = 0;
    ERR_clear_error();
    const int code = SSL_read_ex(of.ssl.get(), memory->data() + filled, room - filled, &got);
    if (code == 1) {
      filled += got;
      of.records.forget();
      const bool is_all = of.input.empty() && of.records.unfinished() == 0;
      if (is_all) break;  // a call that finds nothing costs a quarter of a microsecond
      continue;
    }
    const int why = SSL_get_error(of.ssl.get(), code);
    if (why == SSL_ERROR_ZERO_RETURN) {
      of.peer_has_ended = true;
    } else if (why != SSL_ERROR_WANT_READ) {
      of.failed = failure_of(of, reading_trouble());
    } else if (of.records.begun() > most_idle_records) {
      of.failed = failure_of(of, "the peer sends record after record without data");
    }
    break;
  }
  if (!of.failed && of.out.size() > most_owed) {
    of.failed = failure_of(of, "the peer does not read our answers");
  }
  of.input = {};
  loop::buffer plain(*memory, 0, byte_span(memory->data(), filled));
  return filled == 0 ? loop::buffer{} : std::move(plain);
}

const std::optional<error>& tls_session::failed() const { return state_->failed; }

bool tls_session::peer_has_ended() const { return state_->peer_has_ended; }

// Many clients close without close_notify. The data of such a client is complete up to its last
// record.
result<void> tls_session::end_of_wire() const {
  const auto& of = *state_;
  if (of.peer_has_ended) return {};
  if (of.by->is_server() && of.records.unfinished() == 0) return {};
  return std::unexpected(failure_of(
      of, "the connection ended without close_notify of TLS: received data may be incomplete"));
}

loop::slice tls_session::seal(std::span<const loop::slice> plain) {
  auto& of = *state_;
  std::size_t total = 0;
  for (const auto& each : plain) total += each.size();
  if (total == 0) return of.out.take();
  if (!of.is_done || of.failed) return {};
  of.out.reserve(of.out.size() + total + (total / record_size + 2) * record_overhead);
  std::array<std::byte, record_size> record;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  std::size_t filled = 0;
  bool is_good = true;
  for (const auto& each : plain) {
    auto bytes = each.bytes();
    while (is_good && !bytes.empty()) {
      const auto part = bytes.first(std::min(bytes.size(), record_size - filled));
      bytes = bytes.subspan(part.size());
      if (part.size() == record_size) {
        is_good = write(of.ssl.get(), part);
        continue;
      }
      std::memcpy(record.data() + filled, part.data(), part.size());
      filled += part.size();
      if (filled == record_size) {
        is_good = write(of.ssl.get(), record);
        filled = 0;
      }
    }
  }
  if (is_good && filled != 0) is_good = write(of.ssl.get(), byte_span(record).first(filled));
  if (is_good) return of.out.take();
  of.failed = failure_of(of, take_openssl_reason());
  return {};
}

loop::slice tls_session::seal_end() {
  auto& of = *state_;
  if (of.is_done && !of.failed && !std::exchange(of.has_said_end, true)) {
    ERR_clear_error();
    (void)SSL_shutdown(of.ssl.get());
    ERR_clear_error();
  }
  return of.out.take();
}

bool tls_session::owes() const { return state_->out.size() != 0; }

const tls_info& tls_session::info() const { return state_->info; }

}  // namespace strata::net
