#include "cli/prompt/commands.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/prompt/dialogue.hpp"
#include "cli/prompt/reply_json.hpp"
#include "cli/prompt/reply_text.hpp"
#include "cli/terminal/input_lines.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/screen.hpp"
#include "proto/resp/resp_request.hpp"
#include "text/readable.hpp"

namespace strata::cli {

namespace {

using proto::resp_value;

std::string rendered(const invocation& call, const resp_value& reply) {
  if (call.as_json) return text::escaped_for_json(json_reply(reply).dump()) + '\n';
  return (has_screen() ? pretty_reply(reply) : raw_reply(reply)) + '\n';
}

/// Sends commands to one cache, and records whether every reply was good.
class command_run {
 public:
  explicit command_run(const invocation& call) : call_(call) {}

  outcome<> begin(const cache_access& access) {
    auto link = cache_link::connect(access.endpoint);
    if (!link) return std::unexpected(link.error());
    talk_.emplace(std::move(*link), [this](const resp_value& reply) { show(reply); });
    return talk_->begin(access.password);
  }

  outcome<> run(const std::vector<std::string>& words) {
    if (words.empty()) return {};
    return talk_->execute(words);
  }

  /// Shows subscribed messages until the cache or the user ends it.
  outcome<int> finish() {
    while (talk_->is_subscribed() || talk_->is_monitoring()) {
      if (auto received = talk_->receive(); !received) return std::unexpected(received.error());
    }
    return exit_;
  }

  void fail(const std::string& message) {
    complain(message);
    exit_ = exit_failed;
  }

 private:
  void show(const resp_value& reply) {
    if (reply.what != resp_value::kind::error) return print(rendered(call_, reply));
    const bool is_locked = reply.text.starts_with("NOAUTH");
    fail(fmt::format("the cache answers: {}{}", reply.text,
                     is_locked ? fmt::format("; give its password with --password @FILE, or in {}",
                                             password_variable)
                               : ""));
  }

  const invocation& call_;
  std::optional<cache_talk> talk_;
  exit_code exit_ = exit_done;
};

}  // namespace

outcome<int> run_cache_command(const invocation& call, const cache_access& access,
                               const std::vector<std::string>& words) {
  command_run cache(call);
  if (auto begun = cache.begin(access); !begun) return std::unexpected(begun.error());
  if (auto reported = cache.run(words); !reported) return std::unexpected(reported.error());
  return cache.finish();
}

outcome<int> run_cache_lines(const invocation& call, const cache_access& access) {
  command_run cache(call);
  if (auto begun = cache.begin(access); !begun) return std::unexpected(begun.error());
  std::size_t number = 0;
  const auto done = for_each_input_line([&](std::string_view line) -> outcome<> {
    ++number;
    std::vector<std::string> words;
    if (proto::split_words(line, words)) return cache.run(words);
    cache.fail(fmt::format("line {}: unbalanced quotes", number));
    return {};
  });
  if (!done) return std::unexpected(done.error());
  return cache.finish();
}

}  // namespace strata::cli
