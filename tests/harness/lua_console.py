"""A server whose script runs the Lua code it receives, and sends the result."""

import json

from talker import TextTalker

SCRIPT = """
function on_message(message, id)
  local body, wrong = load(strata.json.decode(message))
  local got = wrong and {error = wrong} or {pcall(body)}
  if not wrong then
    local ok, first, second = got[1], got[2], got[3]
    got = ok and {first = first, second = second} or {error = tostring(first)}
  end
  self.send(id, strata.json.encode(got))
end
"""


class LuaConsole:
    """One client of the console: its requests do not wait for other clients."""

    def __init__(self, daemon, folder, name="console", more="", **options):
        self.daemon, self.name = daemon, name
        self.path = folder / f"{name}.lua"
        self.path.write_text(SCRIPT + more)
        options = {"listen": ["tcp://127.0.0.1:0"], **options}
        made = daemon.create("server", name, protocol="raw", lua=str(self.path), **options)
        self.url = made["endpoints"][0]
        self.talker = TextTalker(self.url)

    def another(self):
        other = LuaConsole.__new__(LuaConsole)
        other.__dict__.update(self.__dict__, talker=TextTalker(self.url))
        return other

    def begin(self, lua):
        self.talker.say(json.dumps(lua))
        return self

    def end(self):
        answer = json.loads(self.talker.hear())
        assert "error" not in answer, answer["error"]
        return answer.get("first"), answer.get("second")

    def run(self, lua):
        """Returns the first two values that the code returns."""
        return self.begin(lua).end()

    def reload(self):
        self.daemon.cli("reload-lua", self.name)

    def fails(self, lua):
        """Returns the error that the code raises."""
        self.begin(lua)
        return json.loads(self.talker.hear())["error"]
