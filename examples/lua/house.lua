-- A house of runtimes, for `strata run house.lua`: a cache, and two servers in one group. Run again
-- it changes nothing, and --dry-run only says what it would do.

strata.create("cache", "sessions", {listen = "tcp://127.0.0.1:6390", resp = true, group = "house"})

for at, name in ipairs({"hall", "attic"}) do
  strata.create("server", name, {
    listen = "tcp://127.0.0.1:" .. 9100 + at,
    group = "house",
    lua = "rooms.lua", -- beside this file
    lua_memory = "16MiB",
  })
end
