-- A lobby for games: clients see the rooms, and are sent on to the server of the one they choose.
-- When that ends, they are back.
local most_in_room = MOST or 4

local function room_of(name) return "room-" .. name end

-- A room is a server of its own, which goes when the lobby goes.
local function open_room(name)
  return strata.create("server", room_of(name), {
    listen = { "tcp://127.0.0.1:0" }, mode = "inout", on_parent_stop = "remove" })
end

local function rooms()
  local lines = {}
  for _, each in ipairs(strata.list()) do
    local name = each.name:match "^room%-(.+)$"
    if name then lines[#lines + 1] = ("%s (%d)"):format(name, each.connections) end
  end
  table.sort(lines)
  return #lines == 0 and "there is no room yet" or table.concat(lines, ", ")
end

local function join(id, name)
  local room = strata.get(room_of(name))
  if not room then
    local made, why = open_room(name)
    if not made then return self.send(id, "no room: " .. why) end
  elseif room.connections >= most_in_room then
    return self.send(id, name .. " is full")
  end
  local done, why = self.route(id, room_of(name))
  self.send(id, done and "you are in " .. name or "no way there: " .. why)
end

function on_connect(id) self.send(id, "welcome: /rooms, /join ROOM") end

function on_message(message, id)
  local name = message:match "^/join (%w+)$"
  if name then
    join(id, name)
  elseif message == "/rooms" then
    self.send(id, rooms())
  else
    self.send(id, "say /rooms or /join ROOM")
  end
end
