-- A cache before PostgreSQL: what is not in memory is read from there, and what changes is written
-- behind. For --lua-unsafe and Debian's lua-sql-postgres; STORE is where the database is.
local driver = require "luasql.postgres"
local environment = driver.postgres()
local where = STORE or "dbname=strata"
local db ---@type table?

-- The connection, made again where it broke.
local function connected()
  if db == nil then
    db = assert(environment:connect(where))
    assert(db:execute "CREATE TABLE IF NOT EXISTS pairs (key BYTEA PRIMARY KEY, value BYTEA)")
  end
  return db
end

local function execute(statement)
  local done, why = connected():execute(statement)
  if done then return done end
  db:close()
  db = nil
  error(why)
end

local function hex(text)
  return (text:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end))
end

local function bytes(text)
  return (text:gsub("%x%x", function(pair) return string.char(tonumber(pair, 16)) end))
end

local function literal(text) return "decode('" .. hex(text) .. "', 'hex')" end

function on_miss(key)
  local rows = execute("SELECT encode(value, 'hex') FROM pairs WHERE key = " .. literal(key))
  local value = rows:fetch()
  rows:close()
  return value and bytes(value), 60
end

-- One statement a batch, and so one transaction: each key is in a batch once, but for lists and
-- hashes, which stay in memory alone.
function on_flush(batch)
  local statements = { "BEGIN" }
  for _, change in ipairs(batch) do
    if change.op == "clear" then
      statements[#statements + 1] = "DELETE FROM pairs"
    elseif change.op == "delete" then
      statements[#statements + 1] = "DELETE FROM pairs WHERE key = " .. literal(change.key)
    elseif change.value then
      statements[#statements + 1] = ("INSERT INTO pairs VALUES (%s, %s) "
        .. "ON CONFLICT (key) DO UPDATE SET value = excluded.value"):format(
        literal(change.key), literal(change.value))
    end
  end
  statements[#statements + 1] = "COMMIT"
  execute(table.concat(statements, "; "))
end

function on_stop()
  if db then db:close() end
end
