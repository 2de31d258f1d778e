-- For a proxy of two backends: some requests go to the second, the new version. When too many of
-- its answers are errors, none does any more.
local share, most_errors, least_answers = SHARE or 0.05, 0.1, 20

local function is_well()
  local answers = strata.shared.get "answers" or 0
  return answers < least_answers or (strata.shared.get "errors" or 0) / answers <= most_errors
end

function on_route(request)
  if request.path == "/canary" then
    return { status = 200, json = { well = is_well(), answers = strata.shared.get "answers" or 0,
                                    errors = strata.shared.get "errors" or 0 } }
  end
  local is_wanted = request.headers["x-canary"] == "yes" or math.random() < share
  return is_wanted and is_well() and 2 or 1
end

-- The new version says its name in the field Server.
function on_proxy_response(response)
  if response.headers.server ~= "new" then return end
  strata.shared.add("answers", 1, 3600)
  if response.status >= 500 and strata.shared.add("errors", 1, 3600) == 1 then
    strata.log("the first error of the canary", "warning")
  end
end
