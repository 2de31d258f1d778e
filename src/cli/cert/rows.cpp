#include "cli/cert/rows.hpp"

namespace strata::cli {

namespace {

using enum options::option_kind;

option_rows make_flags() {
  return {
      {.key = "output",
       .short_flag = 'o',
       .kind = text,
       .value_name = "DIR",
       .default_text = ".",
       .help = "folder to write the files to"},
      {.key = "days",
       .kind = count,
       .value_name = "N",
       .default_text = "397",
       .help = "days for which the certificate is valid",
       .max = 3650,
       .min = 1},
  };
}

option_rows show_flags() {
  return {
      {.key = "ca",
       .kind = text,
       .value_name = "FILE",
       .help = "trust the authorities in FILE instead of those of the system"},
      {.key = "servername",
       .kind = text,
       .value_name = "NAME",
       .help = "check that the certificate is valid for NAME instead of the host in the URL"},
  };
}

}  // namespace

std::vector<verb_row> cert_verbs() {
  return {
      {"cert make", "NAME...", verb_group::system,
       "create a certificate and key for names or addresses, signed by a local authority", 1,
       any_number, run_cert_make, make_flags()},
      {"cluster ca", "NAME...", verb_group::system,
       "create a certificate and key for a daemon or a user of a cluster, as 'cert make'", 1,
       any_number, run_cert_make, make_flags()},
      {"cert show", "URL|FILE", verb_group::system,
       "show the certificates of a server or a file, and whether they are trusted", 1, 1,
       run_cert_show, show_flags()},
  };
}

}  // namespace strata::cli
