// Protocol detection from the first bytes, on every backend.
#include "serve/detection.hpp"

#include "net/testing/backend_stage.hpp"

namespace strata::serve {
namespace {

using namespace std::chrono_literals;

verdict starts_with(byte_span first, std::string_view mark) {
  const auto seen = as_text(first);
  if (seen.starts_with(mark)) return verdict::yes;
  return mark.starts_with(seen) ? verdict::more : verdict::no;
}

constexpr protocol_row rows[] = {
    {"http", [](byte_span first) { return starts_with(first, "GET "); }},
    {"gopher", [](byte_span first) { return starts_with(first, "GE"); }},
    {"redis", [](byte_span first) { return starts_with(first, "*"); }},
};

class detection_test : public net::backend_stage {
 protected:
  struct outcome {
    std::string_view name = "none";
    std::string received;
  };
  /// The protocol detected for a client that sends `pieces`, a turn apart, and what the stream
  /// holds then.
  outcome detected(const std::vector<std::string>& pieces, bool ends = true) {
    auto [client, server] = connected_pair();
    outcome made;
    bool is_known = false;
    bool ended = false;
    const auto run = [&]() -> loop::task<> {
      const auto limit = ends ? loop::time_point::max() : loop_->now() + 50ms;
      const auto* const row = co_await detect(*server, rows, limit);
      if (row != nullptr) made.name = row->name;
      is_known = true;
      co_await read_all(*server, made.received, ended);
    };
    loop::task_group tasks;
    tasks.spawn(run());
    for (const auto& each : pieces) {
      client->push_copy(as_bytes(each));
      EXPECT_TRUE(run_until([&] { return client->unsent() == 0; }));
      run_turns(5);
    }
    if (ends) client->end();
    EXPECT_TRUE(run_until([&] { return is_known && (!ends || ended); }));
    return made;
  }
};

TEST_P(detection_test, tells_by_the_first_bytes_and_loses_none) {
  const auto at_once = detected({"GET / HTTP/1.1\r\n"});
  EXPECT_EQ(at_once.name, "http");
  EXPECT_EQ(at_once.received, "GET / HTTP/1.1\r\n");
  EXPECT_EQ(detected({"*1\r\n$4\r\nPING\r\n"}).name, "redis");
}

TEST_P(detection_test, waits_while_an_earlier_row_may_still_match) {
  const auto slow = detected({"G", "E", "T", " /", " more"});
  EXPECT_EQ(slow.name, "http");
  EXPECT_EQ(slow.received, "GET / more");
  const auto other = detected({"G", "E", "M"});
  EXPECT_EQ(other.name, "gopher");
  EXPECT_EQ(other.received, "GEM");
}

TEST_P(detection_test, what_matches_nothing_ends_early_or_is_silent_has_no_row) {
  const auto unknown = detected({"hello"});
  EXPECT_EQ(unknown.name, "none");
  EXPECT_EQ(unknown.received, "hello");
  const auto cut = detected({"GE"});
  EXPECT_EQ(cut.received, "GE");
  EXPECT_EQ(detected({}, false).name, "none");
  EXPECT_EQ(detected({"G"}, false).name, "none");
}

TEST(detection_of_tls, takes_a_hello_of_a_client_and_nothing_else) {
  const std::string hello("\x16\x03\x01\x00\x80\x01\x00", 7);
  for (std::size_t size = 1; size < 6; ++size) {
    EXPECT_EQ(looks_like_tls(as_bytes(hello).first(size)), verdict::more) << size;
  }
  EXPECT_EQ(looks_like_tls(as_bytes(hello).first(6)), verdict::yes);
  EXPECT_EQ(looks_like_tls(as_bytes(hello)), verdict::yes);
  for (std::size_t at = 0; at < 6; ++at) {
    auto other = hello;
    other[at] = '\x7f';
    if (at == 3 || at == 4) continue;  // a length byte
    EXPECT_EQ(looks_like_tls(as_bytes(other)), verdict::no) << at;
  }
  EXPECT_EQ(looks_like_tls(as_bytes("GET / HTTP/1.1")), verdict::no);
  EXPECT_EQ(looks_like_tls(as_bytes("*1\r\n$4\r\nPING\r\n")), verdict::no);
}

INSTANTIATE_TEST_SUITE_P(backends, detection_test,
                         testing::Values("io_uring", "epoll", "simulation"),
                         [](const auto& backend) { return backend.param; });

}  // namespace
}  // namespace strata::serve
