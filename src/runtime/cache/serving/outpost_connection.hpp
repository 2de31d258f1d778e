// A connection of an outpost.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "loop/condition.hpp"
#include "loop/task_group.hpp"
#include "net/stream.hpp"
#include "runtime/cache/serving/crossing.hpp"

namespace strata::runtime::cache {

class outpost;

class outpost_connection {
 public:
  outpost_connection(outpost& outpost, std::unique_ptr<net::stream> stream, crossing& shared);
  ~outpost_connection();
  outpost_connection(const outpost_connection&) = delete;
  outpost_connection& operator=(const outpost_connection&) = delete;

  /// Serves the client until it ends, or is ended.
  [[nodiscard]] loop::task<> run();

  // --- the engine's messages
  void on_output(const loop::slice& bytes);
  void on_settled();
  void on_room(std::size_t low);
  void on_leave();
  void on_goodbye();

 private:
  void take(byte_span bytes);
  /// Parses more of what was received, and passes requests on.
  void parse();
  /// Nothing that was received is used any more; an incomplete request is kept aside.
  void end_load();
  void tell(outpost_message::kind subject);
  void count_sent() {
    shared_.sent = stream_->sent();
    shared_.is_broken_off = stream_->broken() != 0;
  }
  loop::task<> count_when_sent();
  loop::task<> tell_room(std::size_t low);
  loop::task<> flushed();
  loop::task<> end_soon();

  outpost& outpost_;
  std::unique_ptr<net::stream> stream_;
  crossing& shared_;
  std::string arrived_;       // received while the engine has the requests
  std::size_t received_ = 0;  // bytes that the engine does not know of yet
  std::byte first_ = {};      // of them
  bool is_known_ = false;     // the engine has answered
  bool is_lent_ = true;       // the engine has the requests
  bool is_parsed_ = true;     // all of the input is
  bool is_counting_ = false;
  bool is_over_ = false;      // the engine serves it no more
  bool has_goodbye_ = false;  // the engine's
  loop::condition changed_;
  loop::task_group working_;
};

}  // namespace strata::runtime::cache
