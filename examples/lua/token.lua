-- A chat for those who have a token: the first line of a client is `token WORD`.
local users = USERS or { secret = "ann", hidden = "bob" }

function on_connect(id)
  strata.set_timeout(5000, function()
    if self.peer(id) and not self.get_data(id, "user") then self.disconnect(id) end
  end)
end

function on_message(message, id)
  local user = self.get_data(id, "user")
  if user then
    self.group_send("all", user .. ": " .. message, id)
    return
  end
  user = users[message:match "^token (%w+)$"]
  if not user then
    self.send(id, "that is no token")
    self.disconnect(id)
    return
  end
  self.set_data(id, "user", user)
  self.join_group(id, "all")
  self.send(id, "hello " .. user)
end
