-- Counts what clients say, word by word, and shows it to Prometheus at /metrics; /health says well.
function on_message(message)
  for word in message:gmatch("%a+") do
    word = word:lower()
    if strata.shared.add("count:" .. word) == 1 then
      local words = strata.shared.get("words") or {}
      words[#words + 1] = word
      strata.shared.set("words", strata.json.array(words))
    end
  end
end

local function metrics()
  local lines = { "# TYPE words_total counter" }
  for _, word in ipairs(strata.shared.get("words") or {}) do
    local count = strata.shared.get("count:" .. word)
    lines[#lines + 1] = ('words_total{word="%s"} %d'):format(word, count)
  end
  lines[#lines + 1] = "# TYPE clients gauge"
  lines[#lines + 1] = "clients " .. #self.clients()
  return table.concat(lines, "\n") .. "\n"
end

function on_http_request(request)
  if request.path == "/health" then return { json = { status = "well" } } end
  if request.path == "/metrics" then
    return { headers = { ["Content-Type"] = "text/plain; version=0.0.4" }, body = metrics() }
  end
end
