#include "runtime/cache/engine/clients/command_feed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/cache/engine/command_info.hpp"
#include "text/word.hpp"

namespace strata::runtime::cache {

void command_feed::show(const client& client, const command& command,
                        std::span<const std::string_view> words) {
  const auto shown = shown_words(command, words);
  if (watcher_ != nullptr && watcher_->is_watching()) watcher_->on_command(client, shown);
  if (has_monitors_ && !command.has(flag_admin)) show_to_monitors(client, shown);
}

void command_feed::show_to_monitors(const client& client, std::span<const std::string_view> shown) {
  has_monitors_ = std::ranges::any_of(clients_, &client::is_monitor);
  if (!has_monitors_) return;
  const auto now = clock_.wall_us();
  auto line = fmt::format("+{}.{:06} [{} {}]", now / 1'000'000, now % 1'000'000, client.database,
                          client.remote_address());
  for (const auto& each : shown) line += " " + text::quoted(each);
  line += "\r\n";
  for (auto* each : clients_) {
    if (each->is_monitor && each != &client) each->push(loop::slice::copy_of(as_bytes(line)));
  }
}

}  // namespace strata::runtime::cache
