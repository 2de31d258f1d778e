-- Sessions of a web server, kept in a cache of this daemon or a Redis: they outlive both the script
-- and the server, and several servers may share them.
local db = strata.redis(STORE or "sessions")
local life = 3600 -- seconds since the last request
local routes = strata.router()

local function key_of(request)
  local id = (request.headers.cookie or ""):match "session=(%x+)"
  return id and "session:" .. id
end

local function unknown() return { status = 401, json = { error = "log in first" } } end

routes:post("/login", function(request)
  local given = strata.json.decode(request.body)
  if type(given) ~= "table" or type(given.user) ~= "string" then return { status = 400 } end
  local id = strata.hash("sha256", strata.random_bytes(32))
  local done, why = db:hset("session:" .. id, "user", given.user)
  if not done then return { status = 503, json = { error = why } } end
  db:expire("session:" .. id, life)
  return { status = 204, headers = {
    ["Set-Cookie"] = "session=" .. id .. "; Path=/; HttpOnly; SameSite=Lax" } }
end)

routes:get("/me", function(request)
  local key = key_of(request)
  local user = key and db:hget(key, "user")
  if not user then return unknown() end
  db:expire(key, life)
  return { json = { user = user, visits = db:hincrby(key, "visits", 1) } }
end)

routes:post("/logout", function(request)
  local key = key_of(request)
  if not key or db:del(key) == 0 then return unknown() end
  return { status = 204, headers = { ["Set-Cookie"] = "session=; Path=/; Max-Age=0" } }
end)

function on_http_request(request) return routes:answer(request) end
