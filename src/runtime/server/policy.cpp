#include "runtime/server/policy.hpp"

#include "runtime/server/shard.hpp"

namespace strata::runtime::server {

namespace {

/// A message goes to all other members.
class inout_policy final : public policy {
  void on_message(shard& shard, member& member, const message& message) const override {
    shard.keep(member, message);
    shard.deliveries().relay(message, member.id());
  }
};

/// A message goes to the server only.
class in_policy final : public policy {
  void on_message(shard& shard, member& member, const message& message) const override {
    shard.keep(member, message);
  }
  [[nodiscard]] bool takes_sends() const override { return false; }
};

/// Only messages sent through the server are relayed.
class out_policy final : public policy {
  void on_message(shard& shard, member& /*from*/, const message& /*said*/) const override {
    shard.count().drop_message(drop::mode);
  }
};

/// A message goes back to its sender: for tests and measurements.
class echo_policy final : public policy {
  void on_message(shard& shard, member& member, const message& message) const override {
    shard.keep(member, message);
    shard.deliveries().send(member, message);
  }
};

const inout_policy inout;
const in_policy in;
const out_policy out;
const echo_policy echo;

struct mode_row {
  std::string_view name;
  const policy& (*decides)();
};

constexpr mode_row modes[] = {
    {"inout", []() -> const policy& { return inout; }},
    {"in", []() -> const policy& { return in; }},
    {"out", []() -> const policy& { return out; }},
    {"echo", []() -> const policy& { return echo; }},
    {"master", master_policy},
};

}  // namespace

const policy& policy_of(std::string_view mode) {
  for (const auto& row : modes) {
    if (row.name == mode) return row.decides();
  }
  return inout;
}

}  // namespace strata::runtime::server
