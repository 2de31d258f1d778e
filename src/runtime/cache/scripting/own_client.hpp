// A script as a client of its own cache: it executes commands, and gets their replies as values.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "proto/resp/resp_value.hpp"
#include "runtime/cache/engine/clients/client.hpp"
#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/engine/kept_reply.hpp"

namespace strata::runtime::cache {

/// Called around work on the data.
struct work_hooks {
  std::function<void()> begin_work;
  std::function<void()> end_work;
};

class own_client final : public client {
 public:
  own_client(engine& engine, const work_hooks& hooks);
  ~own_client() override;

  /// Executes a command at once; no other command may be executing. A command that would wait, or
  /// that changes the client's state, replies with an error.
  [[nodiscard]] proto::resp_value execute(unsigned database,
                                          std::span<const std::string_view> words);

  [[nodiscard]] proto::reply_writer& reply() override { return reply_; }
  void push(const loop::slice& /*bytes*/) override {}
  void disconnect(bool /*after_reply*/) override {}
  void resume(bool /*has_changed_data*/) override {}

 private:
  engine& in_;
  const work_hooks& hooks_;
  kept_reply reply_;
};

/// Reports whether scripts may use the command: not commands that make a client a subscriber, a
/// monitor or a follower, or begin a transaction.
[[nodiscard]] bool is_for_scripts(const command& command);

}  // namespace strata::runtime::cache
