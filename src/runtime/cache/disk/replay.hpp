// Executes commands again that were executed elsewhere or before: those of a log, or of a leader.
// Discards the replies.
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
  /// changes nothing, and does not belong in a log.
  [[nodiscard]] result<void> execute(std::span<const std::string_view> words);

  /// Discards a transaction that has begun and will not be completed.
  void forget_transaction();

  [[nodiscard]] proto::reply_writer& reply() override { return nowhere_; }
  void push(const loop::slice& /*bytes*/) override {}
  void disconnect(bool /*after_reply*/) override {}
  void resume(bool /*has_changed_data*/) override {}

 private:
  engine& into_;
  no_reply nowhere_;
};

/// Executes the commands of a log's text, which may end in the middle of one.
class log_reader {
 public:
  enum class outcome : std::uint8_t { more, done, failed };

  /// Reads from byte `start` on.
  log_reader(std::string_view text, std::size_t start, engine& engine);
  /// Executes up to `most_commands` commands.
  [[nodiscard]] outcome step(std::size_t most_commands);
  /// Returns the offset behind the last complete command, or transaction.
  [[nodiscard]] std::size_t whole() const { return whole_; }
  [[nodiscard]] std::uint64_t commands() const { return commands_; }
  /// After `failed`: the reason, as the second half of a sentence.
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

/// A command in the format of a log and of a leader.
using proto::append_command;

/// Writes changes of several databases as one sequence of commands, with a SELECT wherever the
/// database differs from that of the previous change.
class change_row {
 public:
  void append(std::string& text, unsigned database, std::span<const std::string_view> words);
  /// Makes the next change begin with its database: changes from there on can follow a snapshot.
  void begin_anew() { database_.reset(); }

 private:
  std::optional<unsigned> database_;
};

}  // namespace strata::runtime::cache
