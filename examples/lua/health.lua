-- A page on how all runtimes are: 200 when they are well, and 503 when one has failed.
local function report()
  local states, are_well = {}, true
  for _, each in ipairs(strata.list()) do
    states[each.name] = each.state
    if each.state == "failed" then are_well = false end
  end
  return are_well, states
end

local function page(states)
  local lines = { "<!doctype html><title>strata</title><table>" }
  local names = {}
  for name in pairs(states) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do -- names need no escaping
    lines[#lines + 1] = ("<tr><td>%s<td>%s"):format(name, states[name])
  end
  return table.concat(lines, "\n") .. "\n</table>\n"
end

function on_http_request(request)
  local are_well, states = report()
  local status = are_well and 200 or 503
  if request.path == "/health" then
    return { status = status, json = { status = are_well and "well" or "ill", runtimes = states } }
  elseif request.path == "/" then
    local headers = { ["Content-Type"] = "text/html; charset=utf-8" }
    return { status = status, headers = headers, body = page(states) }
  end
end
