-- Lets in those that show a token (JWT, HS256) of ours, by HTTP and by WebSocket.
local secret = "change me"

local function bytes_of(text) -- base64 as URLs have it
  text = text:gsub("-", "+"):gsub("_", "/")
  return strata.base64.decode(text .. ("="):rep(-#text % 4))
end

-- Two texts, compared without showing by the time how much of them is equal.
local function equal(a, b)
  if #a ~= #b then return false end
  local different = 0
  for at = 1, #a do different = bit.bor(different, bit.bxor(a:byte(at), b:byte(at))) end
  return different == 0
end

local function claims_of(request)
  local token = (request.headers.authorization or ""):match("^Bearer (%S+)$") or request.query.token
  if not token then return nil end
  local head, body, sign = token:match("^([^.]+)%.([^.]+)%.([^.]+)$")
  if not head then return nil end
  local kind = strata.json.decode(bytes_of(head) or "")
  if type(kind) ~= "table" or kind.alg ~= "HS256" then return nil end
  if not equal(bytes_of(sign) or "", strata.hmac("sha256", secret, head .. "." .. body, true)) then
    return nil
  end
  local claims = strata.json.decode(bytes_of(body) or "")
  if type(claims) ~= "table" or (claims.exp and claims.exp < strata.now()) then return nil end
  return claims
end

function on_http_request(request)
  local claims = claims_of(request)
  if not claims then
    return { status = 401, headers = { ["WWW-Authenticate"] = "Bearer" }, body = "show a token\n" }
  end
  return { json = { hello = claims.sub } }
end

function on_websocket(request) return claims_of(request) ~= nil end
