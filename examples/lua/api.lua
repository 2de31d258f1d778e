-- An HTTP API for notes, and a WebSocket on which their changes are told.
local routes = strata.router()

local function notes() return strata.shared.get("notes") or {} end

local function keep(all, what, id)
  strata.shared.set("notes", all)
  self.broadcast(strata.json.encode { event = what, id = id })
end

routes:get("/notes", function()
  local list = {}
  for id, text in pairs(notes()) do list[#list + 1] = { id = id, text = text } end
  table.sort(list, function(a, b) return a.id < b.id end)
  return { json = strata.json.array(list) }
end)

routes:post("/notes", function(request)
  local note, why = strata.json.decode(request.body)
  if type(note) ~= "table" or type(note.text) ~= "string" then
    return { status = 400, json = { error = why or "text is missing" } }
  end
  local all, id = notes(), ("%04d"):format(strata.shared.add("last note"))
  all[id] = note.text
  keep(all, "made", id)
  return { status = 201, headers = { Location = "/notes/" .. id }, json = { id = id } }
end)

routes:get("/notes/:id", function(_, params)
  local text = notes()[params.id]
  if not text then return { status = 404, json = { error = "there is no such note" } } end
  return { json = { id = params.id, text = text } }
end)

routes:delete("/notes/:id", function(_, params)
  local all = notes()
  if not all[params.id] then return { status = 404, json = { error = "there is no such note" } } end
  all[params.id] = nil
  keep(all, "gone", params.id)
  return { status = 204 }
end)

function on_http_request(request) return routes:answer(request) end

function on_message() end -- what clients of the WebSocket say is for nobody
