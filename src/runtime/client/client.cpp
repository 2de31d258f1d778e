#include "runtime/client/client.hpp"

#include <nlohmann/json.hpp>

#include "loop/call_on.hpp"
#include "net/scheme.hpp"
#include "runtime/client/link.hpp"

namespace strata::runtime::client {

namespace {

result<void> check(const client_options& options) {
  if (options.endpoint().empty()) {
    return failure(errc::invalid_argument, "make a client", "it has nowhere to connect",
                   "give -t HOST:PORT or --connect URL");
  }
  if (!options.connect.empty() && !options.target.empty()) {
    return failure(errc::invalid_argument, "make a client",
                   "both --target and --connect say where to connect", "give one of them");
  }
  auto url = net::parse_endpoint(options.endpoint());
  if (!url) return std::unexpected(url.error());
  if (!url->is_for_one() && url->port == 0) {
    return failure(errc::invalid_argument, "connect to " + url->text(), "port 0 is no port",
                   "give the port that the server listens on");
  }
  return {};
}

class client final : public runtime {
 public:
  client(context&& given, client_options options)
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
    return {options_.endpoint()};
  }
  [[nodiscard]] bool listens() const override { return false; }
  [[nodiscard]] std::vector<std::string> needs() const override;
  [[nodiscard]] statistics stats() const override;
  [[nodiscard]] std::string failure_reason() const override { return reason_; }

 private:
  void on_end(const std::string& why) {
    reason_ = why;
    if (on_failure) on_failure();
  }

  context context_;
  client_options options_;
  std::vector<loop::loop*> loops_;
  std::unique_ptr<link> link_;
  loop::file_claim written_;
  std::string reason_;
  statistics past_;
};

// `call_on` keeps its closure alive until the coroutine that the closure is has ended.
// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines)
loop::task<result<void>> client::start() {
  reason_.clear();
  loop::file_claim claimed;
  if (!options_.write.empty()) {
    auto made = context_.home.files().claim(options_.write);
    if (!made) co_return std::unexpected(made.error());
    claimed = std::move(*made);
  }
  auto loops = context_.loops.assign(1);
  if (!loops) co_return std::unexpected(loops.error());
  loops_ = std::move(*loops);
  written_ = std::move(claimed);
  link_ = std::make_unique<link>(*loops_[0], options_, context_.names, context_.log, context_.messages);
  auto opened =
      co_await loop::call_on(context_.home, *loops_[0], [this]() -> loop::task<result<void>> {
        // The client is destroyed only after `stop()` ended the link, and all posts come before.
        co_return co_await link_->open(
            [this](const std::string& why) { context_.home.post([this, why] { on_end(why); }); });
      });
  if (!opened) co_await stop(context_.home.now());
  co_return opened;
}

loop::task<void> client::stop(loop::time_point limit) {
  if (!link_) co_return;
  co_await loop::call_on(context_.home, *loops_[0], [this, limit]() -> loop::task<bool> {
    co_await link_->close(limit);
    co_return true;
  });
  past_ = stats().past();
  // From here on nobody who asks sees it: it is destroyed on its own loop's thread.
  auto ending = std::move(link_);
  co_await loop::call_on(context_.home, *loops_[0], [&ending]() -> loop::task<bool> {
    ending.reset();
    co_return true;
  });
  written_ = {};
  context_.loops.release(std::exchange(loops_, {}));
}

loop::task<result<send_outcome>> client::send(std::string message) {
  co_return co_await loop::call_on(context_.home, *loops_[0],
                                   [this, &message]() -> loop::task<result<send_outcome>> {
                                     co_return link_->send(as_bytes(message));
                                   });
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines)
result<edit_outcome> client::edit(const nlohmann::json& changes) {
  auto next = options_;
  if (auto applied = apply_json(next, option_table(), changes); !applied) {
    return std::unexpected(applied.error());
  }
  if (auto checked = check(next); !checked) return std::unexpected(checked.error());
  options_ = next;
  if (link_) loops_[0]->post([who = link_.get(), next] { who->apply(next); });
  return sort_changes(option_rows(), changes, link_ != nullptr);
}

std::vector<std::string> client::needs() const {
  const auto url = net::parse_endpoint(options_.endpoint());
  if (!url || url->scheme->form != net::url_form::name) return {};
  return {url->host};
}

statistics client::stats() const {
  auto sum = past_;
  if (!link_) return sum;
  sum.add(link_->counted(), second_of(context_.home.now()));
  sum.connections_now.set(link_->connected() ? 1 : 0);
  sum.connections_peak.raise(sum.connections_now.get());
  sum.connections_total.add(link_->connections());
  sum.lag_us.set(link_->lag().last_us);
  sum.lag_max_us.set(link_->lag().max_us);
  return sum;
}

}  // namespace

result<std::unique_ptr<runtime>> make(context&& given, const nlohmann::json& options) {
  client_options read;
  if (auto applied = apply_json(read, option_table(), options); !applied) {
    return std::unexpected(applied.error());
  }
  if (auto checked = check(read); !checked) return std::unexpected(checked.error());
  return std::make_unique<client>(std::move(given), std::move(read));
}

}  // namespace strata::runtime::client
