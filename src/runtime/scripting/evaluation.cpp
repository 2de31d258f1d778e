#include "runtime/scripting/evaluation.hpp"

#include "loop/within.hpp"
#include "script/asked.hpp"

namespace strata::runtime::scripting {

using nlohmann::json;

namespace {

// Functions that the script redefines under these names have no effect here. Globals that the line
// sets are the script's; its printed output is returned to the user, and also logged.
constexpr std::string_view evaluator = R"lua(
local load, error, type, tostring, select, pcall = load, error, type, tostring, select, pcall
local getmetatable, setmetatable, concat = getmetatable, setmetatable, table.concat
local log, encode, array = print, strata.json.encode, strata.json.array
local globals, most_lines = _G, 1000

local function shown(value)
  if type(value) ~= 'table' then return tostring(value) end
  local meta = getmetatable(value)
  if type(meta) == 'table' and meta.__tostring then return tostring(value) end
  local is_json, text = pcall(encode, value)
  return is_json and text or tostring(value)
end

return function(text)
  local output, has_ended = {}, false
  local function print(...)
    local texts = {}
    for at = 1, select('#', ...) do texts[at] = tostring((select(at, ...))) end
    local line = concat(texts, '\t')
    if not has_ended and #output < most_lines then output[#output + 1] = line end
    log(line)
  end
  local scope = setmetatable({ print = print }, { __index = globals, __newindex = globals })
  -- Two values, as a call that is all that is returned would have no place of its own in an error.
  local body, why = load('return nil, ' .. text, '=line', 't', scope)
  local first = body and 2 or 1
  if not body then body, why = load(text, '=line', 't', scope) end
  if not body then return nil, nil, why end
  local function given(...)
    has_ended = true
    local values = {}
    for at = first, select('#', ...) do values[#values + 1] = shown((select(at, ...))) end
    return array(values), array(output)
  end
  return given(body())
end
)lua";

constexpr answer_row answer_table[] = {
    {.key = "values",
     .help = "returned values as texts; tables as JSON",
     .kind = answer_kind::texts},
    {.key = "output", .help = "lines that it printed", .kind = answer_kind::texts},
    {.key = "error", .help = "instead of values: the error, with a stack trace"},
    {.key = "incomplete",
     .help = "whether more input could complete the text",
     .kind = answer_kind::flag},
};

json outcome_of(const script::finished& outcome) {
  if (outcome.has_failed()) {
    return {{"error",
             outcome.trouble().empty() ? "the script was ended" : std::string(outcome.trouble())}};
  }
  if (outcome.is_text(2)) {
    const auto why = outcome.text(2);
    return {{"error", std::string(why)}, {"incomplete", why.ends_with("'<eof>'")}};
  }
  auto values = outcome.structure(0);
  auto output = outcome.structure(1);
  if (!values || !output) return {{"error", "the line's values cannot be shown"}};
  return {{"values", std::move(*values)}, {"output", std::move(*output)}};
}

}  // namespace

std::span<const answer_row> evaluation_rows() { return answer_table; }

loop::task<result<json>> evaluate(script::machine& machine, std::string text,
                                  loop::time_point limit) {
  auto& on = machine.on();
  auto function = machine.make_value(evaluator, "=strata");
  std::vector<script::argument> with{std::string_view(text)};
  auto asked = script::ask(machine, std::move(function), std::move(with), outcome_of);
  auto given = co_await loop::within(on, std::move(asked), limit);
  if (given) co_return std::move(*given);
  co_return failure(errc::timed_out, "wait for what the line gives", "it waits for longer",
                    "it continues; print its result from the script");
}

}  // namespace strata::runtime::scripting
