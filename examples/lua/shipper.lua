-- Takes lines of logs, and ships them in batches, as JSON, to a collector: none is lost while that
-- is away, unless more than a bound wait.
local collector = COLLECTOR or "http://127.0.0.1:9000/"
local most_at_once, most_waiting = 500, 100000
local lines, dropped, is_shipping = {}, 0, false
tick_ms = 200

function on_message(message, id)
  if #lines >= most_waiting then
    dropped = dropped + 1
    return
  end
  lines[#lines + 1] = { at = strata.now(), from = self.peer_ip(id), line = message }
end

local function ship()
  local batch, told = {}, dropped
  for number = 1, math.min(#lines, most_at_once) do batch[number] = lines[number] end
  local answer = strata.http {
    url = collector, method = "POST", headers = { ["Content-Type"] = "application/json" },
    body = strata.json.encode { lines = strata.json.array(batch), dropped = told } }
  if not answer.ok then
    strata.log { level = "warning", message = "the collector is away", waiting = #lines }
    return
  end
  dropped = dropped - told
  local rest = {}
  for number = #batch + 1, #lines do rest[#rest + 1] = lines[number] end
  lines = rest
end

function on_tick()
  if is_shipping or #lines == 0 then return end
  is_shipping = true
  ship()
  is_shipping = false
end

-- A last try, for which the stop waits a moment.
function on_stop()
  if #lines > 0 then ship() end
end
