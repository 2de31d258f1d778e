// The subcommands of CLIENT for client-side caching.
#pragma once

namespace strata::runtime::cache {

class call;

void client_caching(call& c);
void client_getredir(call& c);
void client_tracking(call& c);
void client_trackinginfo(call& c);

}  // namespace strata::runtime::cache
