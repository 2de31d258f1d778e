#include "runtime/proxy/streams/bond.hpp"

namespace strata::runtime::proxy {

client_report bond::report() const {
  auto report = client();
  report.id = id_;
  report.since = began_;
  report.last_active = last_active_;
  report.passed = passed_;
  return report;
}

void bond::note_passed(bool from_client, tapped_form form, byte_span bytes) {
  note_active();
  const std::uint64_t messages = form == tapped_form::message ? 1 : 0;
  (from_client ? passed_.messages_in : passed_.messages_out) += messages;
  (from_client ? passed_.bytes_in : passed_.bytes_out) += bytes.size();
  if (means_.shown.is_open()) show(from_client, form, bytes);
}

void bond::show(bool from_client, tapped_form form, byte_span bytes) const {
  const auto shown = client();
  auto sender = client_text(id_);
  auto receiver = backend();
  if (receiver.empty()) receiver = means_.name;
  if (!from_client) sender.swap(receiver);
  means_.shown.write(form, !from_client,
                     {.client = id_,
                      .address = shown.address,
                      .sender = std::move(sender),
                      .receiver = std::move(receiver),
                      .protocol = shown.protocol},
                     bytes);
}

}  // namespace strata::runtime::proxy
