// Executes again what was executed elsewhere or before: a log's commands, a leader's. Nobody hears
// the replies.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "proto/resp/resp_request.hpp"
#include "runtime/cache/engine/clients/client.hpp"
#include "runtime/cache/engine/kept_reply.hpp"
#include "strata/base/result.hpp"

namespace strata::runtime::cache {

class engine;

class replay final : public client {
 public:
  explicit replay(engine& engine);
  ~replay() override;

  /// Errors: not_supported for a command that this cache does not know; malformed for one that
  /// changes nothing, and has no place in a log.
  [[nodiscard]] result<void> execute(std::span<const std::string_view> words);

  /// A transaction that has begun will not be ended.
  void forget_transaction();

  [[nodiscard]] proto::reply_writer& reply() override { return nowhere_; }
  void push(const loop::slice& /*bytes*/) override {}
  void disconnect(bool /*after_reply*/) override {}
  void resume() override {}

 private:
  engine& into_;
  no_reply nowhere_;
};

/// The commands of a log's text, which may end in the middle of one.
class log_reader {
 public:
  enum class outcome : std::uint8_t { more, done, failed };

  /// From byte `start` on.
  log_reader(std::string_view text, std::size_t start, engine& engine);
  /// Executes up to that many.
  [[nodiscard]] outcome step(std::size_t most_commands);
  /// Behind the last command, or transaction, that is whole.
  [[nodiscard]] std::size_t whole() const { return whole_; }
  [[nodiscard]] std::uint64_t commands() const { return commands_; }
  /// After `failed`: why, in a sentence's second half.
  [[nodiscard]] const std::string& why() const { return why_; }

 private:
  proto::request_reader reader_;
  replay replay_;
  std::vector<std::string_view> words_;
  std::size_t from_;
  std::size_t whole_;
  std::uint64_t commands_ = 0;
  std::string why_;
};

/// A command as it stands in a log, and as a leader sends it.
using proto::append_command;

/// Changes of several databases as one row of commands, with a SELECT wherever the database is
/// another than that of the one before.
class change_row {
 public:
  void append(std::string& text, unsigned database, std::span<const std::string_view> words);
  /// The next change tells its database: what is from there on can stand behind a snapshot.
  void begin_anew() { database_.reset(); }

 private:
  std::optional<unsigned> database_;
};

}  // namespace strata::runtime::cache
