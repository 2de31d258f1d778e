// The options that every runtime type has.
#pragma once

#include <string>
#include <vector>

#include "options/option_table.hpp"

namespace strata::runtime {

/// Options that every runtime type has.
struct runtime_options {
  std::string group;
  std::string owner;
  std::vector<std::string> label;
  std::string on_parent_stop = "stop";
  std::string restart = "on-failure";
  std::uint64_t restart_limit = 0;
};

template <class Options>
[[nodiscard]] std::vector<options::bound_row<Options>> with_runtime_options(
    std::vector<options::bound_row<Options>> own) {
  own.push_back({{.key = "group",
                  .short_flag = 'g',
                  .kind = options::option_kind::text,
                  .value_name = "NAME",
                  .help = "group of the runtime, which @NAME stands for"},
                 &Options::group});
  own.push_back({{.key = "owner",
                  .short_flag = 'o',
                  .kind = options::option_kind::text,
                  .value_name = "NAME",
                  .help = "runtime that owns this one"},
                 &Options::owner});
  own.push_back({{.key = "label",
                  .kind = options::option_kind::list,
                  .value_name = "KEY=VALUE",
                  .help = "label by which -l selects the runtime; repeatable"},
                 &Options::label});
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
                  .help = "restart the runtime, with growing pauses, when it fails or cannot start "
                          "with the daemon; 'always' also when its work is done",
                  .choices = "no|on-failure|always"},
                 &Options::restart});
  own.push_back(
      {{.key = "restart_limit",
        .kind = options::option_kind::count,
        .value_name = "N",
        .default_text = "0",
        .help = "consecutive restarts after which the runtime stays failed; 0 means no limit",
        .only_with = "restart=on-failure|restart=always"},
       &Options::restart_limit});
  return own;
}

}  // namespace strata::runtime
