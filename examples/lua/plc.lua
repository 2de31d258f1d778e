-- A gateway to a controller on raw Ethernet: clients say `read REGISTER`, `write REGISTER VALUE`.
-- A frame is what it does (1 reads, 2 writes; an answer has 128 more), the register (two bytes) and
-- its value (four bytes), the most significant first. Zeros at a frame's end may be its padding:
-- what is missing is zero.
local where = DEVICE or "l2://eth0/0x88b5?dst=02:00:00:00:00:01&prio=6"
local device ---@type strata.connection?
local waiting = {} -- the clients that wait for a register's answer

local function number(bytes, from, to)
  local value = 0
  for at = from, to do value = value * 256 + (bytes:byte(at) or 0) end
  return value
end

local function frame(what, register, value)
  local bytes = { what, math.floor(register / 256), register % 256, 0, 0, 0, 0 }
  for at = 7, 4, -1 do bytes[at], value = value % 256, math.floor(value / 256) end
  return string.char(unpack(bytes))
end

local function tell(register, text)
  local clients = waiting[register] or {}
  waiting[register] = nil
  for id in pairs(clients) do self.send(id, text) end
end

-- What the controller says; its link may go and come.
local function listen()
  while true do
    device = strata.connect(where)
    while device do
      local bytes, why = device:receive()
      if bytes and number(bytes, 1, 1) >= 128 then
        tell(number(bytes, 2, 3), ("%d = %d"):format(number(bytes, 2, 3), number(bytes, 4, 7)))
      elseif why == "closed" then
        device = nil
      end
    end
    strata.sleep(1)
  end
end

function on_start() strata.set_timeout(0, listen) end

function on_message(message, id)
  local word, register, value = message:match "^(%a+) (%d+) ?(%d*)$"
  local what = ({ read = 1, write = 2 })[word]
  register, value = tonumber(register), tonumber(value) or 0
  if not what or register > 65535 or value > 4294967295 then
    return self.send(id, "say `read REGISTER` or `write REGISTER VALUE`")
  end
  local sent, why = false, "the link is down"
  if device then sent, why = device:send(frame(what, register, value)) end
  if not sent then return self.send(id, "not sent: " .. why) end
  waiting[register] = waiting[register] or {}
  waiting[register][id] = true
  strata.set_timeout(1000, function() tell(register, register .. " does not answer") end)
end
