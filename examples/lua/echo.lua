-- Each client hears what it says.
function on_start() strata.log("started " .. self.name) end

function on_connect(id) self.send(id, "welcome") end

function on_message(message, id) self.send(id, "echo: " .. message) end
