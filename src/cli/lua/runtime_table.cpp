#include "cli/lua/runtime_table.hpp"

#include <string_view>

namespace strata::cli {

namespace {

// The names of options in socketley's tables that differ from ours, and those without a
// counterpart. An entry that does not say start=true is only created, as there.
constexpr std::string_view deploy = R"lua(
local renamed = {
  backends = 'backend', config = 'lua', strategy = 'balance',
  health_check = 'check', health_interval = 'check_interval', health_path = 'check_path',
  health_threshold = 'check_fall', circuit_threshold = 'circuit_failures',
  circuit_timeout = 'rest', retry = 'retries',
}
local of_caches = { mode = 'access', maxmemory = 'max_memory', replicate = 'follow' }
local without = {
  log = "'strata logs NAME' shows what a runtime logs",
  cache = "a script can ask a cache of this daemon: strata.redis('runtime://NAME')",
  test = "'strata run --dry-run' changes nothing",
}

local function options_of(entry, place)
  local options = { start = entry.start == true }
  for key, value in pairs(entry) do
    if without[key] then
      error(place .. " has '" .. key .. "', which is not an option here: " .. without[key], 0)
    end
    local name = entry.type == 'cache' and of_caches[key] or renamed[key] or key
    if key ~= 'name' and key ~= 'type' and key ~= 'start' and key ~= 'udp' then
      options[name] = value
    end
  end
  if entry.udp and entry.port then
    options.port, options.listen = nil, 'udp://*:' .. entry.port
  end
  return options
end

-- A running daemon keeps its name and its cluster.
local function report_daemon(described)
  local flags = ''
  if described.name then flags = ' --name ' .. tostring(described.name) end
  if described.cluster then flags = flags .. ' --cluster dir://' .. tostring(described.cluster) end
  print("'daemon' is not applied: a daemon gets its name and its cluster when it starts, by " ..
          "'strata daemon" .. (flags == '' and ' --name NAME --cluster dir:///DIR' or flags) .. "'")
end

return function()
  local described = rawget(_G, 'daemon')
  if type(described) == 'table' then report_daemon(described) end
  local list = rawget(_G, 'runtimes')
  if type(list) ~= 'table' then return end
  for number, entry in ipairs(list) do
    local place = 'runtimes[' .. number .. ']'
    if type(entry) ~= 'table' or type(entry.name) ~= 'string' or type(entry.type) ~= 'string' then
      error(place .. " is not a table with type and name, such as " ..
              "{type = 'server', name = 'api'}", 0)
    end
    strata.create(entry.type, entry.name, options_of(entry, place))
  end
end
)lua";

}  // namespace

void deploy_table(script::machine& machine) {
  const auto function = machine.make_value(deploy, "=strata");
  machine.start(function, {});
}

}  // namespace strata::cli
