#include "runtime/scripting/netlink.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "loop/beside.hpp"
#include "runtime/scripting/options_table.hpp"
#include "runtime/scripting/subscription.hpp"
#include "strata/nl/generic.hpp"
#include "text/nearest.hpp"
#include "text/number.hpp"
#include "text/readable.hpp"
#include "ynl/search.hpp"
#include "ynl/table.hpp"

namespace strata::runtime::scripting {

using nlohmann::json;
using script::answers;
using script::call;

namespace {

struct question {
  std::string family;
  std::string command;
  json attributes = json::object();
  bool is_dump = false;
  bool may_change = false;  ///< it may change the machine
};

/// A family, its specification if there is one, and a socket to reach it.
struct family_access {
  nl::generic on;
  nl::generic_family family;
  std::optional<ynl::spec> spec;
};

result<family_access> look_up_family(const std::string& name) {
  auto on = nl::generic::open();
  if (!on) return std::unexpected(on.error());
  auto family = on->family(name);
  if (!family) return std::unexpected(family.error());
  auto spec = ynl::find_spec({}, family->name);
  if (!spec) return std::unexpected(spec.error());
  return family_access{std::move(*on), std::move(*family), std::move(*spec)};
}

struct command {
  std::uint8_t number = 0;
  const ynl::operation* named = nullptr;
};

result<command> find_command(const question& question, const std::optional<ynl::spec>& spec) {
  const auto refused = [&question](std::string why) {
    return failure(errc::invalid_argument, fmt::format("ask the family '{}'", question.family),
                   std::move(why), "see: strata nl show " + question.family);
  };
  const auto number = text::number_in<std::uint8_t>(question.command);
  const ynl::operation* named = nullptr;
  if (spec)
    named = number ? spec->find_request(*number, question.is_dump) : spec->find(question.command);
  if (named != nullptr && named->has_fixed_header) {
    return refused(fmt::format("'{}' begins with a fixed header", named->name));
  }
  if (number) return command{*number, named};
  if (named == nullptr) {
    const auto names = spec ? ynl::names_in(spec->operations) : std::vector<std::string>{};
    return refused(fmt::format(
        "'{}' is not a command{}, {}", text::printable(question.command),
        text::did_you_mean(question.command, names),
        spec ? "it has " + text::names_listed(names) : "and there is no specification with names"));
  }
  const auto& exchange = question.is_dump ? named->dump : named->act;
  if (exchange) return command{exchange->request, named};
  return refused(
      fmt::format("'{}' cannot be {}", named->name,
                  question.is_dump ? "dumped: leave out dump" : "asked but with dump=true"));
}

// A command that needs CAP_NET_ADMIN changes the machine.
result<void> check_rights(const question& question, const nl::generic_family& family,
                          const command& command) {
  const auto found = std::ranges::find(family.operations, std::uint32_t{command.number},
                                       &nl::generic_operation::command);
  const bool needs_admin =
      found != family.operations.end() && (found->needs_admin || found->needs_uns_admin);
  if (!needs_admin || question.may_change) return {};
  return failure(errc::permission_denied,
                 fmt::format("call '{}' of the family '{}'", question.command, question.family),
                 "the command is for administrators, and the script lacks the right",
                 "run it with --lua-allow unsafe");
}

json table_of(const wire::netlink_message& raw, const ynl::spec* spec,
              const ynl::operation* named) {
  const auto message = wire::genl_message::parse(raw);
  if (!message || raw.is(wire::netlink_control::error)) return json::object();
  return ynl::to_table(message->attributes, ynl::scope::of(spec, named));
}

result<json> answer_to(const question& question) {
  auto known = look_up_family(question.family);
  if (!known) return std::unexpected(known.error());
  const auto* const spec = known->spec ? &*known->spec : nullptr;
  const auto which = find_command(question, known->spec);
  if (!which) return std::unexpected(which.error());
  if (auto may = check_rights(question, known->family, *which); !may) {
    return std::unexpected(may.error());
  }
  auto& over = known->on.over();
  auto request = over.request();
  wire::begin_genl(request, known->family.id,
                   wire::netlink_flag::request |
                       (question.is_dump ? wire::netlink_flag::dump : wire::netlink_flag::ack),
                   which->number, static_cast<std::uint8_t>(known->family.version));
  const auto scope = ynl::scope::of(spec, which->named);
  if (auto put = ynl::put_table(request, question.attributes, scope); !put) {
    return std::unexpected(put.error());
  }
  const auto operation =
      fmt::format("call '{}' of the family '{}'", question.command, question.family);
  if (!question.is_dump) {
    const auto reply = over.ask(request, operation);
    if (!reply) return std::unexpected(reply.error());
    return table_of(*reply, spec, which->named);
  }
  auto all = json::array();
  const auto each = [&](const wire::netlink_message& raw) {
    all.push_back(table_of(raw, spec, which->named));
  };
  if (auto done = over.dump(request, operation, each); !done) {
    return std::unexpected(done.error());
  }
  return all;
}

loop::task<answers> asked(loop::loop& loop, question question) {
  auto work = [question = std::move(question)] { return answer_to(question); };
  auto answer = co_await loop::beside(loop, std::move(work));
  if (!answer) co_return std::unexpected(answer.error());
  co_return std::vector<json>{std::move(*answer)};
}

// --- listening

class netlink_subscription final : public subscription, private loop::request {
 public:
  netlink_subscription(host& host, script::machine& machine, script::value_ref call)
      : subscription(machine, std::move(call)), host_(host) {}
  ~netlink_subscription() override { abandon(); }

  /// Errors: there is no such group, or listening to it is not permitted.
  result<void> begin(family_access access, const std::string& group);

 private:
  void stop() override {
    abandon();
    with_.reset();
  }
  void on_completion(loop::completion completion) override;
  void take(const wire::netlink_message& raw);

  host& host_;
  std::optional<family_access> with_;
  loop::descriptor handle_;  // the loop's own descriptor of the same socket
};

result<void> netlink_subscription::begin(family_access access, const std::string& group) {
  const auto operation = fmt::format("join the group '{}' of '{}'", group, access.family.name);
  const auto* const found = access.family.find_group(group);
  if (found == nullptr) {
    std::vector<std::string> names;
    names.reserve(access.family.groups.size());
    for (const auto& each : access.family.groups) names.push_back(each.name);
    return failure(errc::not_found, operation,
                   names.empty()
                       ? "the family has no groups"
                       : "no group has this name; there are " + text::names_listed(names));
  }
  if (auto joined = access.on.over().join(found->id); !joined) return joined;
  const int handle = ::fcntl(access.on.over().fd(), F_DUPFD_CLOEXEC, 0);
  if (handle < 0) return system_failure(errno, operation);
  with_ = std::move(access);
  handle_ = host_.on().adopt(handle);
  host_.on().poll(handle_, POLLIN, *this);
  return {};
}

void netlink_subscription::on_completion(loop::completion /*done*/) {
  while (with_) {
    const auto event = with_->on.over().try_event();
    if (!event) {
      host_.log_few("netlink", level::warning, describe(event.error()));
      if (event.error().sys_errno != ENOBUFS) break;
    } else if (!*event) {
      break;
    } else {
      take(**event);
    }
  }
  if (with_) host_.on().poll(handle_, POLLIN, *this);
}

void netlink_subscription::take(const wire::netlink_message& raw) {
  const auto message = wire::genl_message::parse(raw);
  if (!message) return;
  const auto* const spec = with_->spec ? &*with_->spec : nullptr;
  const auto* const named = spec != nullptr ? spec->find_event(message->command) : nullptr;
  json event = {{"command", message->command},
                {"attributes", ynl::to_table(message->attributes, ynl::scope::of(spec, named))}};
  if (named != nullptr) event["name"] = named->name;
  if (notify({std::move(event)}) || is_closed()) return;
  host_.log_few("netlink", level::warning,
                "a message is lost: a function that strata.netlink_listen calls does not end");
}

loop::task<answers> listening(loop::loop& loop, std::shared_ptr<netlink_subscription> one,
                              std::string family, std::string group) {
  auto work = [family] { return look_up_family(family); };
  auto known = co_await loop::beside(loop, std::move(work));
  if (!known) {
    one->close();
    co_return std::unexpected(known.error());
  }
  if (auto begun = one->begin(std::move(*known), group); !begun) {
    one->close();
    co_return std::unexpected(begun.error());
  }
  co_return std::vector<json>{};
}

}  // namespace

loop::task<answers> ask_netlink(host& host, call& call) {
  question what{.family = std::string(call.text(0)), .command = std::string(call.text(1))};
  if (call.has(2) && !call.structure(2, what.attributes)) return {};
  options_table given(call, 3, {"dump"});
  what.is_dump = given.truth("dump");
  if (!given.is_good()) return {};
  what.may_change = call.by().how().is_unsafe;
  return asked(host.on(), std::move(what));
}

loop::task<answers> receive_netlink(host& host, call& call) {
  auto made = std::make_shared<netlink_subscription>(host, call.by(), call.function(2));
  if (!call.give(subscription_kind(), made)) return {};
  made->stay(call.keep_given());
  return listening(host.on(), std::move(made), std::string(call.text(0)),
                   std::string(call.text(1)));
}

}  // namespace strata::runtime::scripting
