// Where programs that are linked statically look up users, groups and hosts.
#pragma once

#ifdef STRATA_STATIC
#include <nss.h>
#endif

namespace strata::options {

/// Has glibc use what is in it (files, DNS), whatever /etc/nsswitch.conf says: a module that a
/// static program loads brings another glibc, and crashes in it. To be called first of all. Does
/// nothing in a program that is linked otherwise.
inline void use_own_lookups() {
#ifdef STRATA_STATIC
  for (const char* const each : {"passwd", "group", "services", "protocols"}) {
    __nss_configure_lookup(each, "files");
  }
  __nss_configure_lookup("hosts", "files dns");
#endif
}

}  // namespace strata::options
