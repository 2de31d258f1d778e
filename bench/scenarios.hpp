// The scenarios of the load generator. Each measures, prints one JSON object, and always ends.
#pragma once

#include "json_object.hpp"
#include "options.hpp"

namespace strata::bench {

class audience;

void run_relay(const options& wanted);
void run_fanout(const options& wanted);
void run_connect_rate(const options& wanted);
void run_idle(const options& wanted);
void run_hold(const options& wanted);

// What every scenario reports of its receivers, after `sent` messages.
void add_counts(json_object& out, const audience& receivers, std::uint64_t sent);
void add_delays(json_object& out, const audience& receivers);

}  // namespace strata::bench
