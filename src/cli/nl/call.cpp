// strata nl call
#include <fmt/format.h>

#include <algorithm>

#include "cli/nl/flags.hpp"
#include "cli/nl/message.hpp"
#include "cli/nl/named_family.hpp"
#include "cli/nl/rows.hpp"
#include "text/nearest.hpp"
#include "text/number.hpp"
#include "text/readable.hpp"

namespace strata::cli {

namespace {

struct called_command {
  std::uint8_t number = 0;
  const ynl::operation* operation = nullptr;  ///< nullptr if it is not specified
};

outcome<called_command> command_of(const ynl::operation& operation, const ynl::spec& spec,
                                   bool is_dump) {
  const auto name = text::printable(operation.name);
  if (operation.has_fixed_header) {
    return refuse(exit_failed, fmt::format("'{}' begins with a fixed header, which strata nl does "
                                           "not write",
                                           name));
  }
  const auto& exchange = is_dump ? operation.dump : operation.act;
  if (exchange) return called_command{exchange->request, &operation};
  if (operation.act || operation.dump) {
    return refuse(exit_misused, is_dump
                                    ? fmt::format("'{}' cannot be dumped: leave out --dump", name)
                                    : fmt::format("'{}' can only be dumped: add --dump", name));
  }
  return refuse(exit_misused,
                fmt::format("only the kernel sends '{}': receive it with 'strata nl listen {} {}'",
                            name, text::printable(spec.family),
                            operation.group.empty() ? "GROUP" : text::printable(operation.group)));
}

outcome<called_command> command_word(const std::string& word, const ynl::spec* spec, bool is_dump) {
  if (const auto number = text::number_in<std::uint8_t>(word)) {
    return called_command{*number,
                          spec != nullptr ? spec->find_request(*number, is_dump) : nullptr};
  }
  if (spec == nullptr) {
    return refuse(exit_misused,
                  fmt::format("'{}' is not a command: write a number from 0 to 255 ('strata nl "
                              "show FAMILY' lists them), or give a specification with --spec FILE",
                              text::printable(word)));
  }
  if (const auto* const operation = spec->find(word)) return command_of(*operation, *spec, is_dump);
  const auto names = ynl::names_in(spec->operations);
  return refuse(exit_misused, fmt::format("'{}' is not a command of '{}'{}; it has {}",
                                          text::printable(word), text::printable(spec->family),
                                          text::printable(text::did_you_mean(word, names)),
                                          text::names_listed(names)));
}

outcome<wire::netlink_writer> request_of(const invocation& call, nl::generic& generic,
                                         const nl::generic_family& family,
                                         const called_command& command, const ynl::scope& scope) {
  const bool is_dump = call.is_set("dump");
  const auto policy = generic.policy(family);
  auto request = generic.over().request();
  wire::begin_genl(
      request, family.id,
      wire::netlink_flag::request | (is_dump ? wire::netlink_flag::dump : wire::netlink_flag::ack),
      command.number, static_cast<std::uint8_t>(family.version));
  const known_attributes known{
      .scope = scope,
      .policy = policy ? &*policy : nullptr,
      .table = policy ? policy->table_of(command.number, is_dump) : nullptr};
  auto written =
      write_attributes(request, call.flags.value("attr", std::vector<std::string>{}), known);
  if (!written) return std::unexpected(written.error());
  return request;
}

/// Names the attribute that the kernel rejects.
std::unexpected<refusal> refuse_call(error why, const nl::refused_attribute& refused,
                                     const ynl::scope& scope) {
  if (scope.set != nullptr && refused.path.front() != 0) {
    why.remedy = fmt::format("{} attribute {}", refused.is_missing ? "add" : "check",
                             text::printable(scope.path_text(refused.path)));
  }
  return refuse(exit_failed, why);
}

}  // namespace

outcome<int> run_nl_call(const invocation& call) {
  auto named = find_family(call);
  if (!named) return std::unexpected(named.error());
  const auto& family = named->family;
  const auto* const spec = named->spec();
  const auto command = command_word(call.words[1], spec, call.is_set("dump"));
  if (!command) return std::unexpected(command.error());
  const auto scope = ynl::scope::of(spec, command->operation);
  auto request = request_of(call, named->kernel, family, *command, scope);
  if (!request) return std::unexpected(request.error());
  const auto operation =
      fmt::format("call command {} of the family '{}'", call.words[1], call.words[0]);
  message_sink sink(call.as_json, spec);
  result<void> done;
  if (call.is_set("dump")) {
    done = named->kernel.over().dump(*request, operation, [&](const wire::netlink_message& each) {
      sink.take(each, command->operation);
    });
    sink.end();
  } else if (const auto reply = named->kernel.over().ask(*request, operation)) {
    sink.take(*reply, command->operation);
    sink.end();
  } else {
    done = std::unexpected(reply.error());
  }
  if (!done) return refuse_call(done.error(), named->kernel.over().refused(), scope);
  return exit_done;
}

}  // namespace strata::cli
