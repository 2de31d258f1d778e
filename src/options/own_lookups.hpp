// Where statically linked programs look up users, groups and hosts.
#pragma once

#ifdef STRATA_STATIC
#include <nss.h>
#endif

namespace strata::options {

/// Makes glibc use only its built-in lookups (files, DNS), whatever /etc/nsswitch.conf says: a
/// module that a static program loads brings a second glibc, and crashes in it. Call it before
/// everything else. Has no effect in other programs.
inline void use_own_lookups() {
#ifdef STRATA_STATIC
  for (const char* const each : {"passwd", "group", "services", "protocols"}) {
    __nss_configure_lookup(each, "files");
  }
  __nss_configure_lookup("hosts", "files dns");
#endif
}

}  // namespace strata::options
