#include "runtime/scripting/cluster_functions.hpp"

#include "runtime/runtime_service.hpp"
#include "runtime/scripting/host.hpp"
#include "script/call.hpp"

namespace strata::runtime::scripting {

namespace {

loop::task<script::answers> read_cluster(runtime_service& service, loop::loop& loop) {
  service_request request{.verb = service_verb::cluster};
  auto cluster = co_await service.perform(loop, std::move(request));
  if (!cluster) co_return std::unexpected(cluster.error());
  co_return std::vector<nlohmann::json>{std::move(*cluster)};
}

loop::task<script::answers> get(void* self, script::call& /*call*/) {
  auto& asking = *static_cast<host*>(self);
  return read_cluster(*asking.who().others, asking.on());
}

// One entry per row.
// clang-format off
constexpr script::function_row cluster_table[] = {
    {"cluster.get", "", "table?, string?",
     "the cluster as GET /v1/cluster returns it, or nil and the reason if the daemon is in none",
     nullptr, get},
    {"cluster.daemons", "", "table[]",
     "the daemons of the cluster, this one among them: {daemon=, version=, control=, is_own=, "
     "is_drained=, zone=, labels=, runtimes=}; waits; none outside of a cluster"},
    {"cluster.runtimes", "", "table[]",
     "the runtimes of all daemons: {daemon=, name=, type=, state=, group=, endpoints=, "
     "connections=, labels=}; waits"},
    {"cluster.group", "name: string", "table[]",
     "the running members of a group, of all daemons, as strata.cluster.runtimes returns them; "
     "waits"},
    {"cluster.stats", "", "table",
     "the numbers of {daemons=, runtimes=, running=, connections=} in the cluster; waits"},
};
// clang-format on

constexpr std::string_view cluster_lua = R"lua(
local cluster, ipairs = strata.cluster, ipairs

function cluster.daemons()
  local view = cluster.get()
  return view and view.daemons or {}
end

function cluster.runtimes()
  local all = {}
  for _, daemon in ipairs(cluster.daemons()) do
    for _, each in ipairs(daemon.runtimes) do
      each.daemon = daemon.daemon
      all[#all + 1] = each
    end
  end
  return all
end

function cluster.group(name)
  local members = {}
  for _, each in ipairs(cluster.runtimes()) do
    if each.group == name and each.state == 'running' then members[#members + 1] = each end
  end
  return members
end

function cluster.stats()
  local daemons, sums = cluster.daemons(), { runtimes = 0, running = 0, connections = 0 }
  sums.daemons = #daemons
  for _, daemon in ipairs(daemons) do
    for _, each in ipairs(daemon.runtimes) do
      sums.runtimes = sums.runtimes + 1
      if each.state == 'running' then sums.running = sums.running + 1 end
      sums.connections = sums.connections + each.connections
    end
  end
  return sums
end
)lua";

}  // namespace

std::span<const script::function_row> cluster_functions() { return cluster_table; }
std::string_view cluster_lines() { return cluster_lua; }

}  // namespace strata::runtime::scripting
