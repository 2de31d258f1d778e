/* Errors and MAC addresses. */
#include <caml/mlvalues.h>
#include <caml/unixsupport.h>
#include <stdio.h>
#include <string.h>

#include "handles.h"

/* The copy comes first: what is allocated may run finalisers, and those calls of strata. */
value xsk_last_error(value unit) {
  char text[1024];
  (void)unit;
  (void)snprintf(text, sizeof text, "%s", strata_last_error());
  return caml_copy_string(text);
}

value xsk_unix_error(value code) { return unix_error_of_code(Int_val(code)); }

value xsk_mac_parse(value text, value to) {
  uint8_t mac[6];
  const int code = strata_mac_parse(String_val(text), mac);
  if (code == 0) memcpy(Bytes_val(to), mac, sizeof mac);
  return Val_int(code);
}

value xsk_mac_format(value from) {
  uint8_t mac[6];
  char text[STRATA_MAC_TEXT_SIZE];
  memcpy(mac, String_val(from), sizeof mac);
  strata_mac_format(mac, text);
  return caml_copy_string(text);
}
