#include "runtime/cache/disk/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "runtime/cache/engine/called_command.hpp"
#include "runtime/cache/engine/engine.hpp"
#include "text/redis_number.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

namespace {

// Reports whether a command can occur in a log or from a leader: changes, the frame of a
// transaction, messages, and PFCOUNT, which keeps its result in the value.
bool can_be_repeated(const command& command) {
  constexpr std::array<std::string_view, 4> frame = {"select", "multi", "exec", "discard"};
  return command.has(flag_write) || command.has(trait_propagated) ||
         std::ranges::find(frame, command.row->name) != frame.end();
}

}  // namespace

replay::replay(engine& engine) : into_(engine) {
  may_block = false;
  is_replay = true;
}

replay::~replay() { into_.home().leave(*this); }

result<void> replay::execute(std::span<const std::string_view> words) {
  const auto* const what = find_called_command(words);
  if (what == nullptr) {
    return failure(errc::not_supported, "replay " + text::quoted(words[0].substr(0, 128)),
                   "this cache does not support the command");
  }
  if (!can_be_repeated(*what)) {
    return failure(errc::malformed, "replay " + text::quoted(words[0].substr(0, 128)),
                   "the command does not change data");
  }
  into_.execute(*this, words);
  return {};
}

void replay::forget_transaction() {
  in_transaction = transaction_failed = false;
  queued.clear();
}

log_reader::log_reader(std::string_view text, std::size_t start, engine& engine)
    : replay_(engine), from_(start), whole_(start) {
  reader_.feed(as_bytes(text.substr(start)));
}

log_reader::outcome log_reader::step(std::size_t most_commands) {
  using enum proto::request_reader::outcome;
  for (; most_commands != 0; --most_commands) {
    words_.clear();
    const auto how = reader_.next(words_);
    if (how == incomplete) return outcome::done;
    if (how == broken) {
      why_ = fmt::format("the data is damaged after byte {} ({})", whole_, reader_.error());
      return outcome::failed;
    }
    // Redis may write the time there, as a comment.
    const bool is_remark = !words_.empty() && words_[0].starts_with('#');
    if (!words_.empty() && !is_remark) {
      if (auto done = replay_.execute(words_); !done) {
        why_ = fmt::format("the command at byte {}: {}", whole_, describe(done.error()));
        return outcome::failed;
      }
      ++commands_;
    }
    if (!replay_.in_transaction) whole_ = from_ + reader_.position();
  }
  return outcome::more;
}

void change_row::append(std::string& text, unsigned database,
                        std::span<const std::string_view> words) {
  if (std::exchange(database_, database) != database) {
    const text::integer_text number(database);
    const std::array<std::string_view, 2> select = {"SELECT", number.view()};
    append_command(text, select);
  }
  append_command(text, words);
}

}  // namespace strata::runtime::cache
