#include "runtime/server/server.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "loop/call_on.hpp"
#include "runtime/server/shard.hpp"

namespace strata::runtime::server {

namespace {

result<void> check(const server_options& options) {
  const auto urls = options.endpoints();
  if (urls.empty()) {
    return failure(errc::invalid_argument, "make a server", "it has nowhere to listen",
                   "give -p PORT or --listen URL");
  }
  for (const auto& each : urls) {
    if (auto url = net::parse_listening(each); !url) return std::unexpected(url.error());
  }
  if (options.mode == "master" && options.master_pw.empty()) {
    return failure(errc::invalid_argument, "use mode master", "nobody could become master",
                   "set --master-pw");
  }
  return {};
}

class server final : public runtime {
 public:
  server(context&& given, server_options options)
      : context_(std::move(given)), options_(std::move(options)) {}

  loop::task<result<void>> start() override;
  loop::task<void> stop(loop::time_point limit) override;
  loop::task<result<send_outcome>> send(std::string message) override;
  result<edit_outcome> edit(const nlohmann::json& changes) override;
  [[nodiscard]] nlohmann::json options(bool with_secrets) const override {
    return to_json(options_, option_table(), with_secrets);
  }
  [[nodiscard]] const common_options& common() const override { return options_; }
  [[nodiscard]] std::vector<std::string> endpoints() const override {
    return bound_.empty() ? options_.endpoints() : bound_;
  }
  [[nodiscard]] statistics stats() const override;

 private:
  loop::task<result<void>> open_shards();

  context context_;
  server_options options_;
  std::vector<loop::loop*> loops_;
  std::unique_ptr<server_state> state_;
  std::vector<std::unique_ptr<shard>> shards_;
  std::vector<std::string> bound_;
  loop::file_claim written_;  // for all shards
  statistics past_;           // what earlier runs counted
};

loop::task<result<void>> server::start() {
  auto loops = context_.loops.assign(options_.threads);
  if (!loops) co_return std::unexpected(loops.error());
  loops_ = std::move(*loops);
  state_ = std::make_unique<server_state>();
  state_->log = context_.log;
  state_->messages = context_.messages;
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    shards_.push_back(std::make_unique<shard>(*state_, *loops_[i], i, options_));
    state_->shards.push_back({loops_[i], shards_.back().get()});
  }
  auto opened = co_await open_shards();
  if (!opened) co_await stop(context_.home.now());
  co_return opened;
}

// `call_on` keeps its closure alive until the coroutine that the closure is has ended.
// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines)
loop::task<result<void>> server::open_shards() {
  if (!options_.write.empty()) {
    auto claimed = context_.home.files().claim(options_.write);
    if (!claimed) co_return std::unexpected(claimed.error());
    written_ = std::move(*claimed);
  }
  auto targets = co_await net::find_bind_targets(context_.home, options_.endpoints());
  if (!targets) co_return std::unexpected(targets.error());
  const auto ports = co_await context_.binding.acquire();
  const bool share_port = loops_.size() > 1;
  if (share_port) {
    if (auto free = net::probe(context_.home, *targets); !free) co_return free;
  }
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    auto opened = co_await loop::call_on(
        context_.home, *loops_[i],
        [&each = *shards_[i], &targets, share_port]() -> loop::task<result<void>> {
          co_return each.open(*targets, share_port);
        });
    if (!opened) co_return opened;
  }
  for (const auto& target : *targets) bound_.push_back(target.bound_text());
  co_return result<void>{};
}

loop::task<void> server::stop(loop::time_point limit) {
  limit = std::min(limit, context_.home.now() + loop::from_seconds(options_.drain_timeout));
  // All fall silent before the first delivers its last: it may come from another shard.
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    co_await loop::call_on(context_.home, *loops_[i], [&each = *shards_[i]]() -> loop::task<bool> {
      each.fall_silent();
      co_return true;
    });
  }
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    co_await loop::call_on(context_.home, *loops_[i],
                           [&each = *shards_[i], limit]() -> loop::task<bool> {
                             co_await each.close(limit);
                             co_return true;
                           });
  }
  past_ = stats().past();
  // From here on nobody who asks sees them: each is destroyed on its own loop's thread.
  auto ending = std::exchange(shards_, {});
  const auto shared = std::move(state_);
  // Shards post to each other: all are closed before the first goes, and each goes behind what was
  // posted to it.
  for (std::size_t i = 0; i < ending.size(); ++i) {
    co_await loop::call_on(context_.home, *loops_[i], [&each = ending[i]]() -> loop::task<bool> {
      each.reset();
      co_return true;
    });
  }
  bound_.clear();
  written_ = {};
  context_.loops.release(std::exchange(loops_, {}));
}

loop::task<result<send_outcome>> server::send(std::string message) {
  if (!policy_of(options_.mode).takes_sends()) {
    co_return failure(errc::conflict, "send through '" + context_.name + "'",
                      "its mode is 'in': it only receives",
                      "change it: strata edit " + context_.name + " --mode inout");
  }
  if (message.size() > options_.max_message) {
    co_return failure(errc::limit_exceeded, "send through '" + context_.name + "'",
                      "the message has " + std::to_string(message.size()) + " bytes, more than " +
                          std::to_string(options_.max_message),
                      "raise --max-message");
  }
  send_outcome outcome;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    outcome.delivered += co_await loop::call_on(
        context_.home, *loops_[i], [&each = *shards_[i], &message]() -> loop::task<std::uint64_t> {
          co_return each.broadcast(as_bytes(message));
        });
  }
  co_return outcome;
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)
result<edit_outcome> server::edit(const nlohmann::json& changes) {
  auto next = options_;
  if (auto applied = apply_json(next, option_table(), changes); !applied) {
    return std::unexpected(applied.error());
  }
  if (auto checked = check(next); !checked) return std::unexpected(checked.error());
  options_ = next;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    loops_[i]->post([who = shards_[i].get(), next] { who->apply(next); });
  }
  return sort_changes(option_rows(), changes, !shards_.empty());
}

statistics server::stats() const {
  auto sum = past_;
  const auto now_s = second_of(context_.home.now());
  for (const auto& each : shards_) {
    sum.add(each->counted(), now_s);
    sum.lag_us.raise(each->lag().last_us);
    sum.lag_max_us.raise(each->lag().max_us);
  }
  if (state_) {
    sum.connections_now.set(state_->connections.now());
    sum.connections_peak.raise(state_->connections.peak());
    sum.connections_total.add(state_->connections.total());
  }
  return sum;
}

}  // namespace

result<std::unique_ptr<runtime>> make(context&& given, const nlohmann::json& options) {
  server_options read;
  if (auto applied = apply_json(read, option_table(), options); !applied) {
    return std::unexpected(applied.error());
  }
  if (auto checked = check(read); !checked) return std::unexpected(checked.error());
  return std::make_unique<server>(std::move(given), std::move(read));
}

}  // namespace strata::runtime::server
