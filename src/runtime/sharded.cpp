#include "runtime/sharded.hpp"

#include <algorithm>

namespace strata::runtime {

nlohmann::json runtime::certificates() const { return nlohmann::json::array(); }

loop::task<result<void>> runtime_of_parts::start() {
  reason_.clear();
  end_ = {};
  hurried_ = false;
  if (auto prepared = prepare(); !prepared) co_return prepared;
  auto opened = co_await make_and_open();
  if (!opened) co_await stop(context_.home.now());
  co_return opened;
}

loop::task<result<void>> runtime_of_parts::make_and_open() {
  if (const auto path = written_file(); !path.empty()) {
    auto claimed = context_.home.files().claim(path);
    if (!claimed) co_return std::unexpected(claimed.error());
    written_ = std::move(*claimed);
  }
  if (auto opened = open_identity(); !opened) co_return opened;
  auto loops = context_.loops.assign(wanted_loops());
  if (!loops) co_return std::unexpected(loops.error());
  loops_ = std::move(*loops);
  connections_ = std::make_unique<serve::connection_gauge>();
  parts_ = make_parts(loops_);
  auto bound = co_await bind();
  if (!bound) co_return bound;
  co_return co_await begin();
}

loop::task<result<void>> runtime_of_parts::bind() {
  std::vector<net::bind_target> targets;
  if (!listens()) co_return co_await open(targets);
  auto found = co_await net::find_bind_targets(context_.home, wanted_endpoints());
  if (!found) co_return std::unexpected(found.error());
  targets = std::move(*found);
  const auto ports = co_await context_.binding.acquire();
  if (loops_.size() > 1) {
    if (auto free = net::probe(context_.home, targets); !free) co_return free;
  }
  co_return co_await open(targets);
}

loop::task<result<void>> runtime_of_parts::open(std::vector<net::bind_target>& targets) {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    auto opened = co_await loop::call_on(
        context_.home, *loops_[i], [&each = *parts_[i], &targets] { return each.open(targets); });
    opened_ = i + 1;
    if (!opened) co_return opened;
  }
  for (const auto& target : targets) bound_.push_back(target.bound_text());
  co_return result<void>{};
}

loop::task<result<void>> runtime_of_parts::begin() {
  for (std::size_t i = 0; i < opened_; ++i) {
    auto begun = co_await loop::call_on(context_.home, *loops_[i],
                                        [&each = *parts_[i]] { return each.begin(); });
    if (!begun) co_return begun;
  }
  co_return result<void>{};
}

loop::task<void> runtime_of_parts::stop(loop::time_point limit) {
  hurried_ = false;
  for (std::size_t i = 0; i < opened_; ++i) {
    co_await loop::run_on(context_.home, *loops_[i],
                          [&each = *parts_[i]] { each.stop_receiving(); });
  }
  // Concurrently: each may take the whole of the limit.
  loop::task_group closing;
  for (std::size_t i = 0; i < opened_; ++i) {
    closing.spawn(loop::call_on(context_.home, *loops_[i],
                                [&each = *parts_[i], limit] { return each.close(limit); }));
  }
  co_await closing.drained();
  keep_figures();
  close_identity();
  // From here on the parts are not visible: each is destroyed on its own loop's thread, after the
  // work that was posted to it.
  opened_ = 0;
  auto ending = std::exchange(parts_, {});
  const auto gauge = std::move(connections_);
  for (std::size_t i = 0; i < ending.size(); ++i) {
    co_await loop::run_on(context_.home, *loops_[i], [&each = ending[i]] { each.reset(); });
  }
  bound_.clear();
  written_ = {};
  context_.loops.release(std::exchange(loops_, {}));
}

loop::task<void> runtime_of_parts::stop_accepting() {
  loop::task_group stopping;
  for (std::size_t i = 0; i < opened_; ++i) {
    stopping.spawn(loop::call_on(context_.home, *loops_[i],
                                 [&each = *parts_[i]] { return each.stop_accepting(); }));
  }
  co_await stopping.drained();
}

// Posts run in order: this one comes after those of the edits.
loop::task<void> runtime_of_parts::wait_until_applied() {
  for (std::size_t i = 0; i < opened_; ++i) {
    co_await loop::run_on(context_.home, *loops_[i], [] {});
  }
}

statistics runtime_of_parts::stats() const {
  auto sum = past_;
  const auto now_s = second_of(context_.home.now());
  for (std::size_t i = 0; i < opened_; ++i) {
    const auto lag = loops_[i]->lag();
    sum.add(parts_[i]->counted(), now_s);
    sum.lag_us.raise(lag.last_us);
    sum.lag_max_us.raise(lag.max_us);
  }
  if (connections_) {
    sum.connections_now.set(connections_->now());
    sum.connections_peak.raise(connections_->peak());
    sum.connections_total.add(connections_->total());
  }
  return sum;
}

// Endpoints that it listens on already are its own; the others must be free.
loop::task<result<void>> runtime_of_parts::rehearse() {
  if (auto good = try_secrets(); !good) co_return good;
  if (auto good = try_certificates(); !good) co_return good;
  if (!listens()) co_return result<void>{};
  auto found = co_await net::find_bind_targets(context_.home, wanted_endpoints());
  if (!found) co_return std::unexpected(found.error());
  std::erase_if(*found, [this](const net::bind_target& each) {
    const auto wanted = net::parse_endpoint(each.bound_text());
    return wanted && std::ranges::any_of(bound_, [&](const std::string& text) {
             const auto own = net::parse_endpoint(text);
             return own && net::collide(*own, *wanted);
           });
  });
  const auto ports = co_await context_.binding.acquire();
  co_return net::probe(context_.home, *found);
}

// The runtime is destroyed only after `stop()` has ended the parts, and all of their posts run
// before.
void runtime_of_parts::end_by_itself(const std::string& why, own_end end) {
  context_.home.post([this, why, end] {
    reason_ = why;
    end_ = end;
    if (on_failure) on_failure();
  });
}

std::vector<std::string_view> carried_by(const std::vector<std::string>& urls) {
  std::vector<std::string_view> all;
  for (const auto& each : urls) {
    const auto url = net::parse_endpoint(each);
    if (!url) continue;
    const bool is_any = url->scheme->form == net::url_form::name;
    if (url->is_stream()) all.emplace_back("streams");
    if (url->is_ethernet()) all.emplace_back("Ethernet");
    if (url->scheme->carries == net::traffic::datagrams || is_any) all.emplace_back("UDP");
    if (url->scheme->is_secure || is_any) all.emplace_back("TLS");
    if (url->is_web() || is_any) all.emplace_back("WebSockets");
  }
  return all;
}

bool is_shareable(const std::vector<std::string_view>& carried) {
  return std::ranges::find(carried, "Ethernet") == carried.end();
}

edit_outcome sort_changes(const std::vector<options::option_row>& rows,
                          const nlohmann::json& changes, bool running) {
  edit_outcome outcome;
  for (const auto& row : rows) {
    if (!changes.contains(row.key)) continue;
    const bool later = row.needs_restart && running;
    (later ? outcome.needs_restart : outcome.applied).emplace_back(row.key);
  }
  return outcome;
}

}  // namespace strata::runtime
