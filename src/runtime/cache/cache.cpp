#include "runtime/cache/cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <map>
#include <nlohmann/json.hpp>

#include "loop/call_on.hpp"
#include "runtime/cache/serving/shard.hpp"
#include "runtime/figures.hpp"

namespace strata::runtime::cache {

namespace {

result<void> check_path(std::string_view flag, const std::string& path) {
  if (path.empty() || path.front() == '/') return {};
  return failure(errc::invalid_argument, fmt::format("use '{}' as {}", path, flag),
                 "the daemon has a folder of its own to which that is relative",
                 "give the whole path, from / on");
}

result<void> check_files(const cache_options& options) {
  if (auto checked = check_path("--persistent", options.persistent); !checked) return checked;
  if (auto checked = check_path("--snapshot", options.snapshot); !checked) return checked;
  if (!options.snapshot.empty() && options.snapshot == options.persistent) {
    return failure(errc::invalid_argument, fmt::format("use '{}' as --snapshot", options.snapshot),
                   "it is the file of --persistent too", "give another file");
  }
  if (!save_rules::parse(options.save)) {
    return failure(errc::invalid_argument, fmt::format("use '{}' as --save", options.save),
                   "it is no list of pairs", "give seconds and changes: \"3600 1 60 1000\"");
  }
  if (!options.save.empty() && options.snapshot.empty()) {
    return failure(errc::invalid_argument, fmt::format("use '{}' as --save", options.save),
                   "there is no file to save to", "give --snapshot FILE too");
  }
  return {};
}

result<void> check(const cache_options& options) {
  const auto urls = options.endpoints();
  if (urls.empty()) {
    return failure(errc::invalid_argument, "make a cache", "it has nowhere to listen",
                   "give -p PORT or --listen URL");
  }
  for (const auto& each : urls) {
    auto url = net::parse_listening(each);
    if (!url) return std::unexpected(url.error());
    if (!url->is_stream()) {
      return failure(errc::invalid_argument, "listen on '" + each + "'",
                     "a cache speaks on streams only", "use tcp://HOST:PORT or unix:///PATH");
    }
  }
  if (!options.follow.empty()) {
    const auto url = net::parse_endpoint(options.follow);
    if (!url) return std::unexpected(url.error());
    if (!url->is_stream() || url->is_for_one()) {
      return failure(errc::invalid_argument, "follow '" + options.follow + "'",
                     "a cache follows over TCP only", "use tcp://HOST:PORT");
    }
  }
  return check_files(options);
}

class cache final : public runtime {
 public:
  cache(context&& given, cache_options options)
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
  [[nodiscard]] std::vector<nlohmann::json> figures() const override;
  [[nodiscard]] std::string failure_reason() const override { return reason_; }

 private:
  loop::task<result<void>> open_shard();
  [[nodiscard]] key_figures counted_keys() const;
  void on_options_set(const nlohmann::json& changes, std::uint64_t edit);
  void on_shut_down() {
    reason_ = "a client asked for SHUTDOWN";
    if (on_failure) on_failure();
  }

  context context_;
  cache_options options_;
  std::vector<loop::loop*> loops_;
  std::unique_ptr<serve::connection_gauge> connections_;
  std::unique_ptr<shard> shard_;
  std::vector<std::string> bound_;
  std::string reason_;
  statistics past_;  // what earlier runs counted
  key_figures past_keys_;
  // Edits of a running cache are numbered: a client may set an option before the cache's loop hears
  // of an edit of the same, which is then the one that counts.
  std::uint64_t edit_ = 0;
  std::map<std::string, std::uint64_t> edited_;  // the option's last edit
};

// `call_on` keeps its closure alive until the coroutine that the closure is has ended.
// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines)
loop::task<result<void>> cache::start() {
  reason_.clear();
  edited_.clear();
  auto loops = context_.loops.assign(1);
  if (!loops) co_return std::unexpected(loops.error());
  loops_ = std::move(*loops);
  connections_ = std::make_unique<serve::connection_gauge>();
  auto opened = co_await open_shard();
  if (!opened) co_await stop(context_.home.now());
  co_return opened;
}

loop::task<result<void>> cache::open_shard() {
  auto targets = co_await net::find_bind_targets(context_.home, options_.endpoints());
  if (!targets) co_return std::unexpected(targets.error());
  const auto ports = co_await context_.binding.acquire();
  auto opened = co_await loop::call_on(
      context_.home, *loops_[0], [this, &targets]() -> loop::task<result<void>> {
        // The cache is destroyed only after `stop()` ended the shard, and all posts come before.
        shard_ = std::make_unique<shard>(
            *loops_[0], options_, *connections_, context_.log,
            shard::events{.on_shut_down = [this] { context_.home.post([this] { on_shut_down(); }); },
                          .on_options_set =
                              [this](const nlohmann::json& changes, std::uint64_t edit) {
                                context_.home.post(
                                    [this, changes, edit] { on_options_set(changes, edit); });
                              }});
        auto loaded = co_await shard_->load();
        if (!loaded) co_return loaded;
        co_return shard_->open(*targets);
      });
  if (!opened) co_return opened;
  for (const auto& target : *targets) bound_.push_back(target.bound_text());
  co_return result<void>{};
}

loop::task<void> cache::stop(loop::time_point) {
  // From here on nobody who asks sees it: it is destroyed on its own loop's thread.
  past_ = stats().past();
  past_keys_ = past_figures(counted_keys(), key_figure_table());
  auto ending = std::move(shard_);
  if (ending) {
    co_await loop::call_on(context_.home, *loops_[0], [&ending]() -> loop::task<bool> {
      co_await ending->close();
      ending.reset();
      co_return true;
    });
  }
  connections_.reset();
  bound_.clear();
  context_.loops.release(std::exchange(loops_, {}));
}
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)

loop::task<result<send_outcome>> cache::send(std::string) {
  co_return failure(errc::conflict, "send through '" + context_.name + "'",
                    "a cache passes no messages on", "use redis-cli, and PUBLISH");
}

result<edit_outcome> cache::edit(const nlohmann::json& changes) {
  auto next = options_;
  if (auto applied = apply_json(next, option_table(), changes); !applied) {
    return std::unexpected(applied.error());
  }
  if (auto checked = check(next); !checked) return std::unexpected(checked.error());
  auto live = changed_options(options_, next);
  for (const auto& row : option_rows()) {
    if (row.needs_restart) live.erase(row.key);
  }
  options_ = next;
  if (shard_ && !live.empty()) {
    ++edit_;
    for (const auto& [key, value] : live.items()) edited_[key] = edit_;
    loops_[0]->post([who = shard_.get(), live, edit = edit_] { who->apply(live, edit); });
  }
  return sort_changes(option_rows(), changes, shard_ != nullptr);
}

// They are in force already. `edit`: the last one that the cache's loop had heard of.
void cache::on_options_set(const nlohmann::json& changes, std::uint64_t edit) {
  auto news = nlohmann::json::object();
  for (const auto& [key, value] : changes.items()) {
    const auto edited = edited_.find(key);
    if (edited == edited_.end() || edited->second <= edit) news[key] = value;
  }
  [[maybe_unused]] const auto applied = apply_json(options_, option_table(), news);
  assert(applied);
}

statistics cache::stats() const {
  auto sum = past_;
  if (shard_) {
    sum.add(shard_->counted(), second_of(context_.home.now()));
    sum.lag_us.set(shard_->lag().last_us);
    sum.lag_max_us.set(shard_->lag().max_us);
  }
  if (connections_) {
    sum.connections_now.set(connections_->now());
    sum.connections_peak.raise(connections_->peak());
    sum.connections_total.add(connections_->total());
  }
  return sum;
}

key_figures cache::counted_keys() const {
  auto sum = past_keys_;
  if (shard_) add_figures(sum, shard_->counted_keys(), key_figure_table());
  return sum;
}

std::vector<nlohmann::json> cache::figures() const {
  auto values = runtime::figures();
  std::ranges::move(values_of(counted_keys(), key_figure_table()), std::back_inserter(values));
  return values;
}

}  // namespace

const std::vector<options::figure_row>& figure_rows() {
  static const auto rows = [] {
    auto all = common_figure_rows();
    std::ranges::copy(rows_of(key_figure_table()), std::back_inserter(all));
    return all;
  }();
  return rows;
}

result<std::unique_ptr<runtime>> make(context&& given, const nlohmann::json& options) {
  cache_options read;
  if (auto applied = apply_json(read, option_table(), options); !applied) {
    return std::unexpected(applied.error());
  }
  if (auto checked = check(read); !checked) return std::unexpected(checked.error());
  return std::make_unique<cache>(std::move(given), std::move(read));
}

}  // namespace strata::runtime::cache
