#include "cli/nl/rows.hpp"

#include "cli/nl/generate.hpp"
#include "cli/terminal/listing.hpp"

namespace strata::cli {

namespace {

using enum options::option_kind;

const options::option_row spec_flag = {
    .key = "spec",
    .kind = text,
    .value_name = "FILE",
    .help =
        "a YNL specification, which tells names; without it FAMILY.yaml is looked for in the "
        "folders of STRATA_YNL_PATH, or where specifications are installed"};

option_rows call_flags() {
  return {
      spec_flag,
      {.key = "attr",
       .short_flag = 'a',
       .kind = list,
       .value_name = "PATH[:TYPE][=VALUE]",
       .help = "an attribute, by name (msg=hello, header.dev-name=lo, flags=a|b) where there is a "
               "specification, or by number (1=hello, 2:u32=5, 3.1=within); its type is the "
               "specification's or the kernel's policy's, if not said; a path that was given "
               "already begins a new nest"},
      {.key = "dump", .kind = flag, .help = "ask for all there are (NLM_F_DUMP)"},
  };
}

option_rows listen_flags() {
  return {
      spec_flag,
      {.key = "count",
       .short_flag = 'c',
       .kind = count,
       .value_name = "N",
       .help = "stop after N messages"},
      {.key = "timeout",
       .kind = seconds,
       .value_name = "TIME",
       .help = "stop after TIME without a message"},
  };
}

}  // namespace

std::vector<verb_row> nl_verbs() {
  using enum verb_group;
  return {
      {"nl families",
       "",
       netlink,
       "list the generic netlink families of this kernel",
       0,
       0,
       run_nl_families,
       {no_header_row()}},
      {"nl show",
       "FAMILY",
       netlink,
       "show a family's commands, groups and what they take",
       1,
       1,
       run_nl_show,
       {spec_flag}},
      {"nl policy",
       "FAMILY",
       netlink,
       "show what attributes a family's commands take",
       1,
       1,
       run_nl_policy,
       {spec_flag}},
      {"nl call", "FAMILY COMMAND", netlink,
       "call a command, by name or number, and show what it answers", 2, 2, run_nl_call,
       call_flags()},
      {"nl listen", "FAMILY GROUP", netlink, "show what a multicast group hears", 2, 2,
       run_nl_listen, listen_flags()},
      {"nl generate", "FILE", netlink,
       "write typed commands of a family, in C++, from its YNL specification", 1, 1,
       run_nl_generate},
  };
}

}  // namespace strata::cli
