// One connection of a cache: bytes in become commands, replies become bytes out.
//
// What has arrived is read as a batch of requests; the memory that their keys will need is asked
// for before the first is executed, so that the batch waits for it once.
#pragma once

#include <deque>
#include <memory>

#include "net/stream.hpp"
#include "proto/resp_request.hpp"
#include "runtime/cache/client.hpp"
#include "runtime/cache/command_log.hpp"
#include "runtime/cache/output.hpp"
#include "runtime/cache/output_limits.hpp"

namespace strata::runtime {

class cache_shard;

class cache_session final : public client, private loop::turn_end_hook, private loop::timer {
 public:
  cache_session(cache_shard& home, loop::socket connection);
  ~cache_session() override;

  loop::task<> run();

  [[nodiscard]] proto::reply_writer& reply() override;
  void push(const loop::slice& bytes) override;
  void disconnect(bool after_reply) override;
  void resume() override;
  [[nodiscard]] std::string remote_address() const override;
  [[nodiscard]] std::string local_address() const override;
  [[nodiscard]] std::size_t output_bytes() override { return stream_.out().bytes(); }

  /// Sees which replies may go: to be called when there are new ones, and when the log is safe
  /// further on.
  void settle();

 private:
  void on_turn_end() override;
  void on_timer() override;
  void work();
  [[nodiscard]] bool has_to_pause() const;
  [[nodiscard]] loop::duration pause() const;
  [[nodiscard]] loop::duration until_turn() const;
  [[nodiscard]] bool take_turn();
  void work_on();
  bool read_batch();
  bool execute_batch();
  void end_reply_mode();
  void say_plainly();
  [[nodiscard]] const output_limit& limit();
  [[nodiscard]] bool is_too_much(std::size_t bytes);
  loop::task<> flush();

  cache_shard& home_;
  net::stream stream_;
  proto::request_reader reader_;
  reply_stream reply_;
  struct held_replies {
    command_log::position until;  // the log has to be safe to there
    std::uint64_t replies;        // for them to go: the output's first bytes
  };
  std::deque<held_replies> held_;
  std::unique_ptr<kept_reply> plain_;  // of who speaks in lines, unless all are to speak RESP
  bool is_new_ = true;                 // nothing has been read yet
  bool has_rest_ = false;  // requests that are not executed yet: no room for replies, or too early
  bool is_early_ = false;  // the rest waits for the rate limit
  std::int64_t rate_due_ = 0;
  bool is_broken_ = false;
  std::optional<loop::time_point> over_since_;  // more waits for the client than its soft limit
};

}  // namespace strata::runtime
