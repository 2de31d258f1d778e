-- Chat rooms with names: /name NAME, /join ROOM, /leave, /who; all else is said in the room.
local usage = "say /name NAME, then /join ROOM"

local function leave(id)
  local room = self.get_data(id, "room")
  if not room then return end
  self.leave_group(id, room)
  self.set_data(id, "room", nil)
  self.group_send(room, self.get_data(id, "name") .. " left")
end

local commands = {}

function commands.name(id, name)
  -- A name is one client's, whichever loop it is on.
  if name == "" or strata.shared.add("name:" .. name) > 1 then
    return self.send(id, "that name is taken")
  end
  local before = self.get_data(id, "name")
  if before then strata.shared.remove("name:" .. before) end
  self.set_data(id, "name", name)
  self.send(id, "hello " .. name)
end

function commands.join(id, room)
  local name = self.get_data(id, "name")
  if not name or room == "" then return self.send(id, usage) end
  leave(id)
  self.join_group(id, room)
  self.set_data(id, "room", room)
  self.group_send(room, name .. " joined " .. room)
end

function commands.leave(id) leave(id) end

function commands.who(id) self.send(id, "you are client " .. id .. " of " .. #self.clients()) end

function on_message(message, id)
  local command, rest = message:match("^/(%a+) ?(.*)$")
  if command then
    local run = commands[command]
    if run then run(id, rest) else self.send(id, usage) end
    return
  end
  local room = self.get_data(id, "room")
  if not room then return self.send(id, usage) end
  self.group_send(room, self.get_data(id, "name") .. ": " .. message, id)
end

function on_disconnect(id)
  leave(id)
  local name = self.get_data(id, "name")
  if name then strata.shared.remove("name:" .. name) end
end
