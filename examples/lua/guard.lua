-- A proxy in front of a Redis or memcached that speaks lines: clients may not say what deletes all,
-- and card numbers in the answers are masked. What is no whole line yet waits for its end.
local forbidden = FORBIDDEN or { flushall = true, flushdb = true, shutdown = true, config = true }
local longest = 64 * 1024
local asked, answered = {}, {} -- by client: the line that is not whole yet

-- Calls `change` with each whole line of what has come; what it gives goes on.
local function each_line(rest, id, data, change)
  local text, lines = (rest[id] or "") .. data, {}
  local from = 1
  for stop in text:gmatch "\n()" do
    lines[#lines + 1] = change(text:sub(from, stop - 1))
    from = stop
  end
  rest[id] = text:sub(from)
  if #rest[id] > longest then
    strata.log("a line of client " .. id .. " has no end: it is closed", "warning")
    self.close_client(id)
    return nil
  end
  return table.concat(lines)
end

function on_proxy_request(id, data)
  return each_line(asked, id, data, function(line)
    local word = line:match "^%s*(%w+)"
    if not (word and forbidden[word:lower()]) then return line end
    strata.log(("client %d at %s says %s: dropped"):format(id, self.peer(id).address, word))
    return nil
  end)
end

function on_proxy_response(id, data)
  return each_line(answered, id, data, function(line)
    return (line:gsub("%f[%d]%d%d%d%d(%d%d%d%d%d%d%d%d)(%d%d%d%d)%f[%D]", "****%2"))
  end)
end

function on_disconnect(id) asked[id], answered[id] = nil, nil end
