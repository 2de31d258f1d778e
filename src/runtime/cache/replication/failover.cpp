#include "runtime/cache/replication/failover.hpp"

#include <fmt/format.h>

namespace strata::runtime::cache {

std::string_view failover::state() const {
  switch (stage_) {
    case stage::waits: return "waiting-for-sync";
    case stage::hands_over: return "failover-in-progress";
    case stage::none: break;
  }
  return "no-failover";
}

std::string failover::begin(failover_request request, bool is_follower) {
  if (is_on()) return "FAILOVER already in progress.";
  if (is_follower) return "FAILOVER is not valid when server is a replica.";
  if (auto objection = leader_.objection_to_successor({}, 0); !objection.empty()) return objection;
  if (request.is_forced && (!request.timeout_ms || request.host.empty())) {
    return "FAILOVER with force option requires both a timeout and target HOST and IP.";
  }
  if (auto objection = leader_.objection_to_successor(request.host, request.port);
      !objection.empty()) {
    return objection;
  }
  deadline_ms_.reset();
  std::int64_t deadline_ms = 0;
  if (request.timeout_ms &&
      !__builtin_add_overflow(engine_.keys().now_ms(), *request.timeout_ms, &deadline_ms)) {
    deadline_ms_ = deadline_ms;
  }
  request_ = std::move(request);
  stage_ = stage::waits;
  engine_.home().pausing().set_failing_over(true);
  // An expired key is a change, too.
  engine_.keys().set_expires_by_leader(true);
  leader_.set_quiet(true);
  log_->write(level::info, "a failover begins: writes wait until a follower has all changes");
  return {};
}

std::optional<leader::place> failover::choose_successor() {
  if (stage_ != stage::waits) return {};
  auto successor = leader_.find_successor(request_.host, request_.port);
  const bool is_overdue = deadline_ms_ && engine_.keys().now_ms() >= *deadline_ms_;
  if (!successor && is_overdue && request_.is_forced) {
    successor =
        leader::place{.address = request_.host, .port = static_cast<unsigned>(request_.port)};
  }
  if (successor) {
    stage_ = stage::hands_over;
    log_->write(level::info,
                fmt::format("hands the leadership to {}:{}", successor->address, successor->port));
  } else if (is_overdue) {
    log_->write(level::warning, "no follower has all changes in time: the failover is aborted");
    end();
  }
  return successor;
}

void failover::end() {
  if (!is_on()) return;
  if (stage_ == stage::waits) engine_.keys().set_expires_by_leader(false);
  stage_ = stage::none;
  leader_.set_quiet(false);
  engine_.home().pausing().set_failing_over(false);
}

}  // namespace strata::runtime::cache
