// TLS without a network: two sessions back to back, and what a hostile peer may send.
#include "net/tls/session.hpp"

#include <random>

#include "net/testing/certificates.hpp"
#include "net/tls/openssl.hpp"

namespace strata::net {
namespace {

class tls_session_test : public testing::Test {
 protected:
  static const test_authority& authority() {
    static const test_authority one;
    return one;
  }
  static const std::shared_ptr<const tls_context>& server() {
    static const auto one = test_server({.certificates = {authority().issue({"localhost"})}});
    return one;
  }
  static const std::shared_ptr<const tls_context>& client() {
    static const auto one = test_client({.ca = authority().certificate()});
    return one;
  }
  static std::unique_ptr<tls_session> make(const std::shared_ptr<const tls_context>& context) {
    auto made = tls_session::make(context, context->is_server() ? "" : "localhost");
    EXPECT_TRUE(made) << describe(made.error());
    return std::move(*made);
  }
  static std::string wire_of(tls_session& session, std::string_view plain = {}) {
    const auto slice = loop::slice::copy_of(as_bytes(plain));
    const auto sealed = session.seal({&slice, 1});
    return std::string(as_text(sealed.bytes()));
  }
  static result<bool> receive(tls_session& session, std::string_view wire) {
    auto bytes = as_bytes(wire);
    return session.shake_hands(bytes);
  }
  static std::string opened(tls_session& session, std::string_view wire) {
    return std::string(as_text(session.open(as_bytes(wire)).bytes()));
  }

  struct ends {
    std::unique_ptr<tls_session> client;
    std::unique_ptr<tls_session> server;
  };
  /// Two ends after their handshake. The client has not read what the server sent after it.
  static ends agreed() {
    ends made{make(client()), make(server())};
    EXPECT_TRUE(receive(*made.client, ""));
    EXPECT_FALSE(*receive(*made.server, wire_of(*made.client)));
    EXPECT_TRUE(*receive(*made.client, wire_of(*made.server)));
    EXPECT_TRUE(*receive(*made.server, wire_of(*made.client)));
    return made;
  }
};

TEST_F(tls_session_test, records_fill_however_small_the_pieces) {
  auto at = agreed();
  (void)opened(*at.client, wire_of(*at.server));
  std::vector<loop::slice> pieces;
  std::string all;
  for (int i = 0; i < 10'000; ++i) {
    pieces.push_back(loop::slice::copy_of(as_bytes("seven..")));
    all += "seven..";
  }
  const auto sealed = at.client->seal(pieces);
  auto wire = as_text(sealed.bytes());
  EXPECT_EQ(opened(*at.server, wire), all);
  std::size_t records = 0;
  while (!wire.empty()) {
    const auto size =
        static_cast<unsigned char>(wire[3]) * 256U + static_cast<unsigned char>(wire[4]);
    wire.remove_prefix(5 + size);
    ++records;
  }
  EXPECT_EQ(records, 5U) << "70000 bytes, 16384 a record";
}

TEST_F(tls_session_test, a_handshake_cut_at_each_byte_is_the_same) {
  ends whole{make(client()), make(server())};
  ASSERT_TRUE(receive(*whole.client, ""));
  const auto hello = wire_of(*whole.client);
  for (std::size_t at = 1; at < hello.size(); ++at) {
    const auto one = make(server());
    const auto first = receive(*one, hello.substr(0, at));
    ASSERT_TRUE(first && !*first) << at;
    ASSERT_FALSE(one->owes()) << at;
    const auto rest = receive(*one, hello.substr(at));
    ASSERT_TRUE(rest && !*rest) << at;
    ASSERT_TRUE(one->owes()) << at;
  }
}

TEST_F(tls_session_test, a_cut_record_is_an_error_and_a_cut_between_records_is_not) {
  auto at = agreed();
  const auto wire = wire_of(*at.client, "hello");
  EXPECT_EQ(opened(*at.server, wire), "hello");
  EXPECT_TRUE(at.server->end_of_wire()) << "clients just close";
  const auto next = wire_of(*at.client, "world");
  EXPECT_EQ(opened(*at.server, next.substr(0, 7)), "");
  EXPECT_FALSE(at.server->end_of_wire());
  EXPECT_FALSE(at.client->end_of_wire()) << "a server does not just close";
}

TEST_F(tls_session_test, what_came_whole_before_an_altered_record_is_handed_over) {
  auto at = agreed();
  const auto good = wire_of(*at.client, "good");
  auto bad = wire_of(*at.client, "bad");
  bad.back() = static_cast<char>(~bad.back());
  EXPECT_EQ(opened(*at.server, good + bad), "good");
  ASSERT_TRUE(at.server->failed());
  EXPECT_TRUE(at.server->owes()) << "an alert";
  EXPECT_EQ(opened(*at.server, wire_of(*at.client, "late")), "");
}

TEST_F(tls_session_test, flipped_bits_of_a_handshake_do_no_harm) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int turn = 0; turn < 500; ++turn) {
    ends at{make(client()), make(server())};
    bool has_failed = !receive(*at.client, "");
    bool is_done = false;
    for (int step = 0; step < 4 && !has_failed && !is_done; ++step) {
      auto& from = step % 2 == 0 ? *at.client : *at.server;
      auto& to = step % 2 == 0 ? *at.server : *at.client;
      auto wire = wire_of(from);
      if (wire.empty()) break;
      if (static_cast<int>(random() % 3) == step) {
        wire[random() % wire.size()] ^= static_cast<char>(1U << random() % 8);
      }
      const auto said = receive(to, wire);
      has_failed = !said;
      is_done = said && *said && step >= 2;
    }
    if (has_failed) continue;
    // Some bits of a record's version are ignored and may be flipped.
    const auto wire = wire_of(*at.client, "data");
    if (is_done) {
      EXPECT_EQ(opened(*at.server, wire), "data");
    }
  }
}

TEST_F(tls_session_test, garbage_ends_and_is_never_kept_without_limit) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int turn = 0; turn < 200; ++turn) {
    const auto at = make(server());
    std::string junk(1 + random() % 600, '\0');
    for (auto& each : junk) each = static_cast<char>(random());
    if (turn % 2 == 0) junk.replace(0, std::min<std::size_t>(junk.size(), 3), "\x16\x03\x01");
    bool goes_on = true;
    for (std::size_t sent = 0; sent < 300'000 && goes_on; sent += junk.size()) {
      goes_on = receive(*at, junk).has_value();
    }
    EXPECT_FALSE(goes_on);
  }
}

TEST_F(tls_session_test, a_hello_of_64_kib_in_many_records_ends) {
  const auto at = make(server());
  // A handshake message that claims to be 16 MiB less one byte.
  std::string record("\x16\x03\x01\x40\x00\x01\xff\xff\xff", 9);
  record.resize(5 + 0x4000, 'x');
  bool goes_on = receive(*at, record).has_value();
  std::string more("\x16\x03\x01\x40\x00", 5);
  more.resize(5 + 0x4000, 'x');
  for (int i = 0; i < 4 && goes_on; ++i) goes_on = receive(*at, more).has_value();
  EXPECT_FALSE(goes_on);
}

TEST_F(tls_session_test, a_client_of_an_old_version_is_refused_with_an_alert) {
  const auto strict = test_server(
      {.certificates = {authority().issue({"localhost"})}, .least = tls_version::tls_1_3});
  // A hello of TLS 1.1 with one cipher.
  std::string hello("\x03\x02", 2);
  hello += std::string(32, 'r');
  hello += std::string("\x00\x00\x02\xc0\x13\x01\x00", 7);
  const auto size = static_cast<char>(hello.size());
  const std::string message = std::string("\x01\x00\x00", 3) + size + hello;
  const auto whole = static_cast<char>(message.size());
  const std::string wire = std::string("\x16\x03\x01\x00", 4) + whole + message;
  for (const auto& each : {server(), strict}) {
    const auto at = make(each);
    const auto said = receive(*at, wire);
    ASSERT_FALSE(said);
    EXPECT_TRUE(describe(said.error()).contains("no version of TLS")) << describe(said.error());
    EXPECT_EQ(wire_of(*at).substr(0, 1), "\x15");
  }
}

TEST_F(tls_session_test, says_its_end_once) {
  auto at = agreed();
  const auto end = at.client->seal_end();
  EXPECT_FALSE(end.empty());
  EXPECT_TRUE(at.client->seal_end().empty());
  EXPECT_EQ(opened(*at.server, as_text(end.bytes())), "");
  EXPECT_TRUE(at.server->peer_has_ended());
  EXPECT_TRUE(at.server->end_of_wire());
  EXPECT_FALSE(at.server->failed());
}

// A client made with OpenSSL directly, which can do what ours never does.
class foreign_client {
 public:
  explicit foreign_client(int version) : context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_max_proto_version(context_.get(), version);
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(ssl_.get());
  }
  [[nodiscard]] SSL* ssl() const { return ssl_.get(); }
  void receive(std::string_view wire) const {
    BIO_write(SSL_get_rbio(ssl()), wire.data(), static_cast<int>(wire.size()));
  }
  [[nodiscard]] std::string said() const {
    std::string wire(1U << 20U, '\0');
    const int size = BIO_read(SSL_get_wbio(ssl()), wire.data(), static_cast<int>(wire.size()));
    wire.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return wire;
  }
  [[nodiscard]] std::string sealed(std::string_view plain) const {
    EXPECT_GT(SSL_write(ssl(), plain.data(), static_cast<int>(plain.size())), 0);
    return said();
  }
  /// Runs until the handshake is done and the client has read everything that `server` sends.
  void agree(tls_session& server) {
    for (int step = 0; step < 3; ++step) {
      SSL_do_handshake(ssl());
      const auto wire = said();
      auto bytes = as_bytes(wire);
      if (!bytes.empty()) {
        EXPECT_TRUE(server.shake_hands(bytes));
      }
      receive(as_text(server.seal({}).bytes()));
    }
    std::array<char, 16> nothing{};
    EXPECT_EQ(SSL_read(ssl(), nothing.data(), nothing.size()), -1);
    EXPECT_EQ(SSL_is_init_finished(ssl()), 1);
  }

 private:
  ssl_context_pointer context_;
  ssl_pointer ssl_;
};

TEST_F(tls_session_test, new_keys_are_taken_over_and_a_flood_of_them_ends) {
  foreign_client client(TLS1_3_VERSION);
  const auto at = make(server());
  client.agree(*at);
  // With data in between, any number of key updates is allowed.
  for (int i = 0; i < 200; ++i) {
    SSL_key_update(client.ssl(), SSL_KEY_UPDATE_REQUESTED);
    ASSERT_EQ(opened(*at, client.sealed("data")), "data") << i;
    client.receive(wire_of(*at, "answer"));
    std::array<char, 16> answer{};
    ASSERT_EQ(SSL_read(client.ssl(), answer.data(), answer.size()), 6);
  }
  int taken = 0;
  while (!at->failed() && taken < 1000) {
    SSL_key_update(client.ssl(), SSL_KEY_UPDATE_NOT_REQUESTED);
    SSL_do_handshake(client.ssl());
    EXPECT_EQ(opened(*at, client.said()), "");
    ++taken;
  }
  EXPECT_LT(taken, 100);
}

TEST_F(tls_session_test, a_peer_that_asks_for_keys_and_reads_none_ends) {
  foreign_client client(TLS1_3_VERSION);
  const auto at = make(server());
  client.agree(*at);
  int taken = 0;
  while (!at->failed() && taken < 10'000) {
    SSL_key_update(client.ssl(), SSL_KEY_UPDATE_REQUESTED);
    (void)opened(*at, client.sealed("data"));
    ++taken;
  }
  EXPECT_LT(taken, 10'000);
  EXPECT_GT(taken, 200) << "a peer may be slow";
}

TEST_F(tls_session_test, nobody_renegotiates) {
  foreign_client client(TLS1_2_VERSION);
  const auto at = make(server());
  client.agree(*at);
  EXPECT_EQ(opened(*at, client.sealed("data")), "data");
  SSL_renegotiate(client.ssl());
  SSL_do_handshake(client.ssl());
  const auto hello = client.said();
  ASSERT_FALSE(hello.empty());
  EXPECT_EQ(opened(*at, hello), "");
  EXPECT_EQ(wire_of(*at).substr(0, 1), "\x15") << "an alert, and no hello of the server";
}

TEST_F(tls_session_test, a_ticket_resumes_a_session_and_another_server_does_not_take_it) {
  foreign_client first(TLS1_3_VERSION);
  const auto at = make(server());
  first.agree(*at);
  EXPECT_FALSE(at->info().is_resumed);
  const auto resumed = [&](const std::shared_ptr<const tls_context>& context) {
    foreign_client again(TLS1_3_VERSION);
    SSL_set_session(again.ssl(), SSL_get0_session(first.ssl()));
    const auto other = make(context);
    again.agree(*other);
    return other->info().is_resumed;
  };
  EXPECT_TRUE(resumed(server()));
  EXPECT_FALSE(resumed(test_server({.certificates = {authority().issue({"localhost"})}})));
}

}  // namespace
}  // namespace strata::net
