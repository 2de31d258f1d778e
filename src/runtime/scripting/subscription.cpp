#include "runtime/scripting/subscription.hpp"

#include <utility>

namespace strata::runtime::scripting {

namespace {

constexpr std::size_t most_unreported = 10000;
constexpr std::size_t little = 100;

// One entry per row.
// clang-format off
constexpr script::function_row subscription_methods[] = {
    {"close", "", "", "ends the subscription; the function is no longer called",
     script::method<&subscription::close_by>},
    {"is_open", "", "boolean", "true while the subscription is not closed",
     script::method<&subscription::is_open>},
};
// clang-format on

}  // namespace

subscription::subscription(script::machine& machine, script::value_ref call)
    : machine_(machine), loop_(machine.on()), call_(std::move(call)), taken_(machine.on()) {}

void subscription::close() {
  if (std::exchange(is_closed_, true)) return;
  waiting_.clear();
  stop();
  call_ = {};
  self_ = {};
  taken_.notify();
}

bool subscription::notify(std::vector<nlohmann::json> values) {
  if (is_closed_ || waiting_.size() >= most_unreported) return false;
  waiting_.push_back(std::move(values));
  loop_.at_turn_end(*this);
  return true;
}

loop::task<> subscription::room() {
  [[maybe_unused]] const bool has_room =
      co_await taken_.wait([this] { return waiting_.size() < little || is_closed_; });
}

void subscription::on_end(const script::finished& /*with*/) {
  is_running_ = false;
  loop_.at_turn_end(*this);
}

// A loop, since functions that do not wait end within `start`. A function may release this object.
void subscription::on_turn_end() {
  const auto self = shared_from_this();
  while (!is_running_ && !waiting_.empty()) {
    const auto what = std::move(waiting_.front());
    waiting_.pop_front();
    std::vector<script::argument> with;
    for (const auto& each : what) with.emplace_back(&each);
    is_running_ = true;
    machine_.start(call_, with, this);
  }
  taken_.notify();
}

const script::object_kind& subscription_kind() {
  static constexpr script::object_kind kind{
      "subscription", "what strata.subscribe and similar functions return", subscription_methods};
  return kind;
}

}  // namespace strata::runtime::scripting
