#include "runtime/proxy/choice/backends.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "loop/task_group.hpp"

namespace strata::runtime::proxy {

namespace {

/// A place in the queue shared by all loops, in the counts of one loop.
class queued {
 public:
  explicit queued(const backend_means& means) : with_(means) { with_.counted.waiting.add(); }
  queued(const queued&) = delete;
  queued& operator=(const queued&) = delete;
  ~queued() {
    auto& waiting = with_.counted.waiting;
    waiting.set(waiting.get() - 1);
    with_.shared.leave_queue(with_.number);
  }

 private:
  const backend_means& with_;
};

loop::task<> watch_client(loop::task<> leaving, bool& has_left, waiting_line& line) {
  co_await leaving;
  has_left = true;
  line.call();
}

}  // namespace

backends::backends(const backend_means& means, std::string route)
    : means_(means),
      route_(std::move(route)),
      stands_(means.shared.route_of(route_)),
      roster_({.home = means.home,
               .names = means.names,
               .self = means.self,
               .number = means.number,
               .shared = means.shared,
               .route = route_,
               .on_trouble =
                   [this](const backend_text& text, const error& why) {
                     means_.report(level::warning, "lost",
                                   fmt::format("cannot follow changes of backend '{}': {}",
                                               text.text, describe(why)));
                   },
               .on_circle =
                   [this](const backend_text& text, const std::string& runtime) {
                     means_.report(level::warning, "circle",
                                   fmt::format("backend '{}' leaves out '{}', which would forward "
                                               "clients back to this proxy",
                                               text.text, runtime));
                   },
               .on_change =
                   [this] {
                     take();
                     means_.on_change();
                   }}),
      line_(means.home) {}

void backends::become(const std::vector<std::string>& texts) {
  roster_.become(texts);
  take();
}

void backends::take() {
  std::vector<backend_ref> next;
  for (auto& read : roster_.all()) {
    const auto known = std::ranges::find_if(all_, [&](const backend_ref& one) {
      const bool is_taken = std::ranges::find(next, one) != next.end();
      return one->is.is_spoken_to_as(read) && !is_taken;
    });
    if (known == all_.end()) {
      next.push_back(backend_of(std::move(read), next));
      if (has_begun_) next.back()->stands->came = means_.home.now();
    } else {
      (*known)->is = std::move(read);
      next.push_back(*known);
    }
  }
  all_ = std::move(next);
  has_begun_ = has_begun_ || !roster_.is_looking();
  for (const auto& each : all_) {
    each->on_left = [this] { means_.shared.call(means_.number); };
    each->on_outcome = [this](backend& backend, const circuit::attempt& attempt, bool is_good) {
      note(backend, attempt, is_good);
    };
    if (!rules().are_on()) each->stands->current.reset();
  }
  line_.call();
}

// A place that is written twice makes two backends; each loop matches the first and the second by
// order.
std::shared_ptr<backend> backends::backend_of(backend_text read,
                                              const std::vector<backend_ref>& others) {
  const auto before = std::ranges::count_if(
      others, [&read](const backend_ref& one) { return one->is.is_spoken_to_as(read); });
  auto stands = means_.shared.backend_of(fmt::format(
      "{}\n{}\n{} {} {}", route_, read.where(), read.speaks_http2, read.proxy_version, before));
  return std::make_shared<backend>(std::move(read), std::move(stands));
}

loop::task<result<backend_use>> backends::enter(wish wish) {
  if (all_.empty() && roster_.is_looking()) {
    co_await roster_.looked(means_.home.now() + loop::from_seconds(means_.options.connect_timeout));
  }
  wish.panic = means_.options.panic;
  wish.slow_start = loop::from_seconds(means_.options.slow_start);
  // If the queue is full, a client that need not wait does not queue.
  const bool has_line = !line_.is_empty() && !means_.shared.is_queue_full(means_.options.queue);
  try_now tried{.use = std::nullopt, .are_full = has_line};
  if (!has_line) tried = try_begin(wish);
  if (tried.are_full) {
    auto waited = co_await wait_for_place(wish);
    if (!waited) co_return std::unexpected(waited.error());
    tried.use = std::move(*waited);
  }
  if (!tried.use) {
    co_return failure(errc::not_found, "find a backend",
                      wish.tried.empty() ? "there is none" : "all backends were tried");
  }
  if (tried.use->is_trial()) {
    means_.report(level::info, "half-open",
                  fmt::format("backend '{}' is tried again after a pause, its circuit is half-open",
                              tried.use->of()->is.text));
  }
  co_return std::move(*tried.use);
}

// If another loop takes the last place meanwhile, the backend is full at the next attempt.
backends::try_now backends::try_begin(wish& wish) {
  wish.now = means_.home.now();
  for (;;) {
    const auto found = candidates_of(all_, wish);
    if (found.of.empty()) return {.use = std::nullopt, .are_full = found.are_full};
    auto begun = backend_use::begin(choose(found.of, wish), wish.now);
    if (!begun) continue;
    note_panic(found.is_panic);
    return {.use = std::move(begun), .are_full = false};
  }
}

backends::try_now backends::try_again(wish& wish) {
  const auto is_shut = [](const backend_ref& one) { return one->is_full() || one->is.is_drained; };
  const auto is_full = [](const backend_ref& one) { return one->is_full() && !one->is.is_drained; };
  if (std::ranges::all_of(all_, is_shut) && std::ranges::any_of(all_, is_full)) {
    return {.use = std::nullopt, .are_full = true};
  }
  return try_begin(wish);
}

circuit_rules backends::rules() const {
  const auto& options = means_.options;
  return {.failures = options.circuit_failures,
          .share = options.circuit_share,
          .rest = loop::from_seconds(options.rest)};
}

void backends::note(backend& backend, const circuit::attempt& attempt, bool is_good) {
  auto& circuit = backend.stands->current;
  if (!circuit.note(attempt, is_good, rules(), means_.home.now())) return;
  means_.shared.call(means_.number);
  if (is_good) {
    backend.stands->came = means_.home.now();
    means_.report(level::info, "closed",
                  fmt::format("backend '{}' serves again, its circuit is closed", backend.is.text));
    return;
  }
  const std::chrono::duration<double> pause = circuit.pause();
  means_.report(
      level::warning, "open",
      fmt::format("backend '{}' has failed {}, its circuit is open for {} s", backend.is.text,
                  attempt.is_trial ? "again" : "too often", pause.count()));
}

void backends::note_panic(bool is_now) {
  auto& is_panicking = stands_->is_panicking;
  if (is_panicking.load(std::memory_order_relaxed) == is_now) return;
  if (is_panicking.exchange(is_now) == is_now) return;
  if (is_now) {
    means_.report(level::warning, "panic",
                  fmt::format("fewer than {} % of the backends are ready: using all backends",
                              means_.options.panic));
  } else {
    means_.report(level::info, "calm", "enough backends are ready: using only those");
  }
}

loop::task<result<std::optional<backend_use>>> backends::wait_for_place(wish wish) {
  auto& counted = means_.counted;
  const auto& options = means_.options;
  if (!means_.shared.enter_queue(means_.number, options.queue)) {
    counted.turned_away.add();
    co_return failure(errc::limit_exceeded, "find a backend",
                      "all are full, and so is the queue for them (--queue)");
  }
  const queued waiting(means_);
  const auto limit = means_.home.now() + loop::from_seconds(options.queue_timeout);
  bool has_left = false;
  loop::task_group watching;
  if (wish.client_left) watching.spawn(watch_client(wish.client_left(), has_left, line_));
  try_now tried{.use = std::nullopt, .are_full = true};
  // A place once taken is kept.
  const auto goes = [this, &wish, &has_left, &tried] {
    if (tried.are_full && !has_left) tried = try_again(wish);
    return has_left || !tried.are_full;
  };
  const bool has_gone = co_await line_.wait(goes, limit);
  watching.cancel();
  if (has_left)
    co_return failure(errc::canceled, "find a backend", "the client has left the queue");
  if (has_gone) co_return std::move(tried.use);
  counted.turned_away.add();
  co_return failure(errc::limit_exceeded, "find a backend",
                    fmt::format("all are full, and none has become free for {} s (--queue-timeout)",
                                options.queue_timeout));
}

}  // namespace strata::runtime::proxy
