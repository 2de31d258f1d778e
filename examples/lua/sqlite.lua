-- A cache before an SQLite database: what is not in memory is read from there, and what changes is
-- written behind. For --lua-unsafe and Debian's lua-sql-sqlite3; STORE is the database's file.
local driver = require "luasql.sqlite3"
local db = assert(driver.sqlite3():connect(STORE or "/var/lib/strata/store.sqlite"))
assert(db:execute "CREATE TABLE IF NOT EXISTS pairs (key BLOB PRIMARY KEY, value BLOB)")

local function blob(text)
  return "x'" .. text:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end) .. "'"
end

-- A value that was read lives for a minute: others may change the database too.
function on_miss(key)
  local rows = assert(db:execute("SELECT value FROM pairs WHERE key = " .. blob(key)))
  local value = rows:fetch()
  rows:close()
  return value, 60
end

local function write(change)
  if change.op == "clear" then
    return db:execute "DELETE FROM pairs"
  elseif change.op == "delete" then
    return db:execute("DELETE FROM pairs WHERE key = " .. blob(change.key))
  elseif change.value then -- a string; lists and hashes stay in memory alone
    return db:execute(
      ("REPLACE INTO pairs VALUES (%s, %s)"):format(blob(change.key), blob(change.value)))
  end
  return true -- what has expired here stays there
end

-- One transaction a batch. An error: nothing of it is written, and the batch is given again.
function on_flush(batch)
  assert(db:execute "BEGIN")
  for _, change in ipairs(batch) do
    local done, why = write(change)
    if not done then
      db:execute "ROLLBACK"
      error(why)
    end
  end
  assert(db:execute "COMMIT")
end

function on_stop() db:close() end
