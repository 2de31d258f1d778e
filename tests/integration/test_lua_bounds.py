"""What a script asks for beyond all measure: it gets what there is, or an error."""

from strata_daemon import eventually
from talker import TextTalker as Talker


def test_what_is_kept_with_a_client_is_bounded(daemon, scripted):
    """A script that keeps something under each name that a client says takes no memory for ever."""
    url = scripted("""
        function on_message(message, id)
          local kept, joined = 0, 0
          local more = function() self.set_data(id, 'k' .. kept, ('x'):rep(1e5)) end
          while pcall(more) do kept = kept + 1 end
          while pcall(self.join_group, id, message .. joined) do joined = joined + 1 end
          self.set_data(id, 'k0')
          self.send(id, kept .. ' ' .. joined .. ' ' .. tostring(pcall(more)) .. ' '
                    .. #self.get_data(id, 'k1') .. ' ' .. tostring(self.leave_group(id, message)))
        end""", lua_time=10)
    with Talker(url) as ann, Talker(url) as bob:
        ann.say("a")
        assert ann.hear() == "10 10000 true 100000 false"
        bob.say("b" * 1025)
        assert bob.hear() == "10 0 true 100000 false"


def test_a_wait_of_no_number_is_an_error_and_a_long_one_waits(daemon, scripted):
    url = scripted("""
        function on_message(message, id)
          self.send(id, tostring(pcall(strata.sleep, 0 / 0)))
          strata.sleep(-5)
          strata.shared.set('long', 1, 1e300)
          strata.shared.set('gone', 1, -1e300)
          self.send(id, tostring(strata.shared.get('long')) .. ' '
                    .. tostring(strata.shared.get('gone')))
          strata.sleep(1e300)
          self.send(id, 'too soon')
        end""")
    with Talker(url) as ann:
        ann.say("go")
        assert ann.hear() == "false"
        assert ann.hear() == "1 nil"
        eventually(lambda: daemon.stats("web")["script"]["waiting"] == 1, "it waits")
        assert not ann.has_something()
