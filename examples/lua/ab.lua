-- For a proxy of two backends: each visitor gets one of two versions, and stays with it.
local share_of_b = SHARE or 0.5
local cookie = "variant"

local function variant_of(request)
  return (request.headers.cookie or ""):match(cookie .. "=([ab])")
end

-- By the client's address, so that requests without the cookie agree, too.
local function draw(request)
  local client = request.peer:match "^(.*):%d+$" .. (request.headers["user-agent"] or "")
  local number = tonumber(strata.hash("md5", client):sub(1, 6), 16) / 0x1000000
  return number < share_of_b and "b" or "a"
end

function on_route(request)
  return (variant_of(request) or draw(request)) == "b" and 2 or 1
end

function on_proxy_response(_, request)
  if variant_of(request) then return end
  local value = cookie .. "=" .. draw(request) .. "; Path=/; Max-Age=2592000"
  return { headers = { ["Set-Cookie"] = value } }
end
