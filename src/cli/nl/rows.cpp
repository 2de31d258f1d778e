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
        "YNL specification with the names of the family (default: FAMILY.yaml in the folders "
        "of STRATA_YNL_PATH, or where specifications are installed)"};

option_rows call_flags() {
  return {
      spec_flag,
      {.key = "attr",
       .short_flag = 'a',
       .kind = list,
       .value_name = "PATH[:TYPE][=VALUE]",
       .help = "attribute to send, by name if there is a specification (msg=hello, "
               "header.dev-name=lo, flags=a|b), or by number (1=hello, 2:u32=5, 3.1=within); TYPE "
               "defaults to the specification's or the kernel policy's; giving a path again begins "
               "a new nest; repeatable"},
      {.key = "dump", .kind = flag, .help = "request all objects (NLM_F_DUMP)"},
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
       "show a family's commands, their attributes, and its multicast groups",
       1,
       1,
       run_nl_show,
       {spec_flag}},
      {"nl policy",
       "FAMILY",
       netlink,
       "show the kernel's policy: which attributes a family's commands accept",
       1,
       1,
       run_nl_policy,
       {spec_flag}},
      {"nl call", "FAMILY COMMAND", netlink,
       "call a command, by name or number, and print its replies", 2, 2, run_nl_call, call_flags()},
      {"nl listen", "FAMILY GROUP", netlink, "print the messages to a multicast group", 2, 2,
       run_nl_listen, listen_flags()},
      {"nl generate", "FILE", netlink,
       "generate typed C++ commands of a family from its YNL specification", 1, 1, run_nl_generate},
  };
}

}  // namespace strata::cli
