-- Takes webhooks, checks who signed them, answers at once, and passes them on until they are taken.
local target, key = TARGET or "http://127.0.0.1:9000/", KEY or "change me"
local most_waiting, waiting = 1000, 0

local function is_signed(request)
  local given = request.headers["x-hub-signature-256"] or ""
  local wanted = "sha256=" .. strata.hmac("sha256", key, request.body)
  -- Of equal length; their digests tell nothing of where they differ.
  return strata.hash("sha256", given) == strata.hash("sha256", wanted)
end

local function deliver(request)
  local pause = 0.1
  for _ = 1, 10 do
    local answer = strata.http {
      url = target, method = "POST", body = request.body,
      headers = { ["Content-Type"] = request.headers["content-type"] or "application/json" } }
    if answer.ok then return end
    strata.log { level = "warning", message = "not taken", status = answer.status }
    strata.sleep(pause)
    pause = math.min(2 * pause, 60)
  end
  strata.log("given up: " .. request.body, "error")
end

function on_http_request(request)
  if request.method ~= "POST" then return { status = 405, headers = { Allow = "POST" } } end
  if not is_signed(request) then
    return { status = 401, json = { error = "the signature is wrong" } }
  end
  if waiting >= most_waiting then return { status = 503, json = { error = "too many wait" } } end
  waiting = waiting + 1
  strata.set_timeout(0, function()
    deliver(request)
    waiting = waiting - 1
  end)
  return { status = 202 }
end
