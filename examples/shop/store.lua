-- The prices come from here when nobody has asked for them within a minute: in place of this table,
-- a slow database or another service (strata.http).
local prices = { apple = "0.40", pear = "0.55" }

function on_miss(key)
  local fruit = key:match("^price:(%a+)$")
  return fruit and prices[fruit], 60
end
