-- An HTTP API of which each client gets a number of answers in a window of time, on all threads
-- together. Who wants more is told when to come again.
local most, window = MOST or 10, WINDOW or 60

local function is_too_much(client)
  local turn = math.floor(strata.now() / window)
  local count = strata.shared.add(client .. " " .. turn, 1, 2 * window)
  return count > most, (turn + 1) * window - strata.now(), most - count
end

function on_http_request(request)
  local client = request.headers["x-api-key"] or request.peer:match "^(.*):%d+$"
  local refused, seconds, left = is_too_much(client)
  if refused then
    local headers = { ["Retry-After"] = math.ceil(seconds) }
    return { status = 429, headers = headers, json = { error = "too many" } }
  end
  return { headers = { ["RateLimit-Remaining"] = left }, json = { time = strata.now() } }
end
