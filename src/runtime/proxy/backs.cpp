#include "runtime/proxy/backs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "loop/task_group.hpp"

namespace strata::runtime::proxy {

namespace {

class counted_wait {
 public:
  explicit counted_wait(options::counter& in) : in_(in) { in_.add(); }
  counted_wait(const counted_wait&) = delete;
  counted_wait& operator=(const counted_wait&) = delete;
  ~counted_wait() { in_.set(in_.get() - 1); }

 private:
  options::counter& in_;
};

loop::task<> watch_client(loop::task<> leaving, bool& has_left, waiting_line& line) {
  co_await leaving;
  has_left = true;
  line.call();
}

}  // namespace

backs::backs(const back_means& with)
    : means_(with),
      roster_({.home = with.home,
               .names = with.names,
               .self = with.self,
               .on_trouble =
                   [this](const back_text& of, const error& why) {
                     means_.tell(
                         level::warning, "lost",
                         fmt::format("back '{}' cannot be followed: {}", of.text, describe(why)));
                   },
               .on_change =
                   [this] {
                     take();
                     means_.on_change();
                   }}),
      line_(with.home) {}

void backs::become(const std::vector<std::string>& texts) {
  roster_.become(texts);
  take();
}

void backs::take() {
  std::vector<back_ref> next;
  for (auto& read : roster_.all()) {
    const auto known = std::ranges::find_if(all_, [&](const back_ref& one) {
      const bool is_taken = std::ranges::find(next, one) != next.end();
      return one->is.is_spoken_to_as(read) && !is_taken;
    });
    if (known == all_.end()) {
      next.push_back(std::make_shared<back>(std::move(read)));
      if (has_begun_) next.back()->came = means_.home.now();
    } else {
      (*known)->is = std::move(read);
      next.push_back(*known);
    }
  }
  all_ = std::move(next);
  has_begun_ = has_begun_ || !roster_.is_looking();
  for (const auto& each : all_) {
    each->most = means_.share.of(each->is.max);
    each->on_left = [this] { line_.call(); };
    each->on_outcome = [this](back& of, const circuit::attempt& how, bool is_good) {
      note(of, how, is_good);
    };
    if (!rules().are_on()) each->current.reset();
  }
  line_.call();
}

loop::task<result<back_use>> backs::enter(wish what) {
  if (all_.empty() && roster_.is_looking()) {
    co_await roster_.looked(means_.home.now() + loop::from_seconds(means_.options.connect_timeout));
  }
  what.now = means_.home.now();
  what.panic = means_.options.panic;
  what.slow_start = loop::from_seconds(means_.options.slow_start);
  auto found = candidates_of(all_, what);
  // Where nobody else can wait, one that need not wait goes.
  const bool has_line = !line_.is_empty() && !is_queue_full();
  if (has_line || found.are_full) {
    const auto waited = co_await wait_for_place(what);
    if (!waited) co_return std::unexpected(waited.error());
    what.now = means_.home.now();
    found = candidates_of(all_, what);
  }
  if (found.of.empty()) {
    co_return failure(errc::not_found, "find a back",
                      what.tried.empty() ? "there is none" : "all were tried");
  }
  co_return begin(found, what);
}

back_use backs::begin(const candidates& of, const wish& what) {
  note_panic(of.is_panic);
  back_use begun(choose(of.of, what), what.now);
  if (begun.is_trial()) {
    means_.tell(level::info, "half-open",
                fmt::format("back '{}' has rested and is tried again, its circuit is half-open",
                            begun.of()->is.text));
  }
  return begun;
}

circuit_rules backs::rules() const {
  const auto& options = means_.options;
  return {.failures = options.circuit_failures,
          .share = options.circuit_share,
          .rest = loop::from_seconds(options.rest)};
}

void backs::note(back& of, const circuit::attempt& how, bool is_good) {
  if (!of.current.note(how, is_good, rules(), means_.home.now())) return;
  line_.call();
  if (is_good) {
    of.came = means_.home.now();
    means_.tell(level::info, "closed",
                fmt::format("back '{}' has served again, its circuit is closed", of.is.text));
    return;
  }
  const std::chrono::duration<double> pause = of.current.pause();
  means_.tell(level::warning, "open",
              fmt::format("back '{}' has failed {}, its circuit is open for {} s", of.is.text,
                          how.is_trial ? "again" : "too often", pause.count()));
}

void backs::note_panic(bool is_now) {
  if (std::exchange(is_panicking_, is_now) == is_now) return;
  if (is_now) {
    means_.tell(
        level::warning, "panic",
        fmt::format("fewer than {} % of the backs are ready: all are taken", means_.options.panic));
  } else {
    means_.tell(level::info, "calm", "enough backs are ready: only those are taken");
  }
}

bool backs::is_queue_full() const {
  return means_.counted.waiting.get() >= means_.share.of(means_.options.queue);
}

// Where none has room, there is nothing to look at more closely.
bool backs::may_go(const wish& what) const {
  const auto is_shut = [](const back_ref& one) { return one->is_full() || one->is.is_drained; };
  const auto is_full = [](const back_ref& one) { return one->is_full() && !one->is.is_drained; };
  if (std::ranges::all_of(all_, is_shut) && std::ranges::any_of(all_, is_full)) return false;
  auto now = what;
  now.now = means_.home.now();
  return !candidates_of(all_, now).are_full;
}

loop::task<result<void>> backs::wait_for_place(wish what) {
  auto& counted = means_.counted;
  const auto& options = means_.options;
  if (is_queue_full()) {
    counted.turned_away.add();
    co_return failure(errc::limit_exceeded, "find a back",
                      "all are full, and so is the queue for them (--queue)");
  }
  const counted_wait waiting(counted.waiting);
  const auto limit = means_.home.now() + loop::from_seconds(options.queue_timeout);
  bool has_left = false;
  loop::task_group watching;
  if (what.client_left) watching.spawn(watch_client(what.client_left(), has_left, line_));
  const bool goes =
      co_await line_.wait([this, &what, &has_left] { return has_left || may_go(what); }, limit);
  watching.cancel();
  if (has_left) co_return failure(errc::canceled, "find a back", "the client has left the queue");
  if (goes) co_return result<void>{};
  counted.turned_away.add();
  co_return failure(errc::limit_exceeded, "find a back",
                    fmt::format("all are full, and none has become free for {} s "
                                "(--queue-timeout)",
                                options.queue_timeout));
}

}  // namespace strata::runtime::proxy
