-- For luacheck: what scripts of strata see, and what they may define. All of it is read out of
-- packaging/lua/strata.lua, which is made of the program's own tables. To be run at the top.
local names, defined = {}, {}

local function declare(path)
  local at = { fields = names }
  for name in path:gmatch "[%w_]+" do
    at.fields = at.fields or {}
    at.fields[name] = at.fields[name] or {}
    at = at.fields[name]
  end
end

local class
for line in io.lines "packaging/lua/strata.lua" do
  class = line:match "^%-%-%-@class strata%.([%w_]+)" or class
  local field = line:match "^%-%-%-@field ([%w_]+)"
  if field and class == "script" then
    defined[#defined + 1] = field
  elseif field then
    declare(class .. "." .. field)
  end
  local called = line:match "^function ([%w_.]+)%("
  if called then declare(called) end
end
declare "strata.json.null"

-- `self` is the table of the runtime that runs the script, whichever that is.
for _, type in ipairs { "server", "client", "proxy", "cache" } do
  for name in pairs(names[type].fields) do declare("self." .. name) end
end

std = "luajit"
read_globals = {}
for _, name in ipairs { "strata", "self", "server", "client", "proxy", "cache" } do
  read_globals[name] = names[name]
end
globals = defined
ignore = {
  "113/[A-Z_]+", -- what whoever runs an example may set before it
  "212", -- an argument that a function is given and does not need
}
max_line_length = 100
