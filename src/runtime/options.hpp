// The one list of runtime types, as far as options go, and the options that every type has.
// The list itself stands in types.cpp.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "options/figure_table.hpp"
#include "options/option_table.hpp"

namespace strata::runtime {

class runtime;
struct context;

/// Figures of several things inside a runtime, such as the backs of a proxy.
struct detail_row {
  std::string_view key;                      ///< of the array in the statistics' JSON: `backs`
  std::span<const std::string_view> labels;  ///< what tells one of the things from another
  std::span<const options::figure_row> figures;
};

/// A runtime type: everything that the daemon and the CLI know about it beforehand.
struct type_row {
  std::string_view name;
  std::string_view summary;
  const std::vector<options::option_row>& (*rows)();
  const std::vector<options::figure_row>& (*figures)();
  /// Makes a runtime of this type from its options, checked as a whole. Daemon only.
  result<std::unique_ptr<runtime>> (*make)(context&&, const nlohmann::json& options);
  /// Null: nothing inside it has figures of its own.
  std::span<const detail_row> (*details)() = nullptr;
};

[[nodiscard]] std::span<const type_row> types();
[[nodiscard]] const type_row* find_type(std::string_view name);
/// The figures of all types, each once: first those that every runtime has.
[[nodiscard]] const std::vector<options::figure_row>& all_figures();

/// `-p PORT`, which is every address, or with `--local` this machine's own, and `--listen URL …` as
/// one list of endpoint URLs. With a certificate, PORT takes TLS alone.
[[nodiscard]] inline std::vector<std::string> listen_urls(const std::optional<std::uint64_t>& port,
                                                          bool is_local, bool is_secure,
                                                          const std::vector<std::string>& listen) {
  std::vector<std::string> urls;
  const std::string scheme = is_secure ? "tls://" : "tcp://";
  const std::string host = is_local ? "127.0.0.1" : "*";
  if (port) urls.push_back(scheme + host + ":" + std::to_string(*port));
  urls.insert(urls.end(), listen.begin(), listen.end());
  return urls;
}

/// Options that every runtime type has.
struct common_options {
  std::string group;
  std::string owner;
  std::string on_parent_stop = "stop";
  std::string restart = "on-failure";
  std::uint64_t restart_limit = 0;
};

template <class Options>
[[nodiscard]] std::vector<options::bound_row<Options>> with_common(
    std::vector<options::bound_row<Options>> own) {
  own.push_back({{.key = "group",
                  .short_flag = 'g',
                  .kind = options::option_kind::text,
                  .value_name = "NAME",
                  .help = "group that the runtime belongs to, for people and for @NAME"},
                 &Options::group});
  own.push_back({{.key = "owner",
                  .short_flag = 'o',
                  .kind = options::option_kind::text,
                  .value_name = "NAME",
                  .help = "runtime that owns this one"},
                 &Options::owner});
  own.push_back({{.key = "on_parent_stop",
                  .kind = options::option_kind::choice,
                  .value_name = "WHAT",
                  .default_text = "stop",
                  .help = "what happens to this runtime when its owner stops",
                  .choices = "stop|remove",
                  .only_with = "owner"},
                 &Options::on_parent_stop});
  own.push_back({{.key = "restart",
                  .kind = options::option_kind::choice,
                  .value_name = "WHEN",
                  .default_text = "on-failure",
                  .help = "start it again, with growing pauses, when it failed by itself or could "
                          "not start with the daemon; always: also when its work was done",
                  .choices = "no|on-failure|always"},
                 &Options::restart});
  own.push_back({{.key = "restart_limit",
                  .kind = options::option_kind::count,
                  .value_name = "N",
                  .default_text = "0",
                  .help = "restarts in a row until it stays failed; 0 is no limit",
                  .only_with = "restart=on-failure|restart=always"},
                 &Options::restart_limit});
  return own;
}

}  // namespace strata::runtime
