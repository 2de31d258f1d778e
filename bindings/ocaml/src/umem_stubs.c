/* UMEMs, and Bigarrays of their memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "handles.h"

/* --- life */

static struct umem_body* new_body(strata_xdp_umem* handle) {
  struct umem_body* const made = calloc(1, sizeof *made);
  if (made == NULL) return NULL;
  if (pthread_mutex_init(&made->lock, NULL) != 0) {
    free(made);
    return NULL;
  }
  made->handle = handle;
  made->users = 1;
  return made;
}

void xsk_umem_leave(struct umem_body* which) {
  if (--which->users != 0) return;
  strata_xdp_umem_close(which->handle);
  pthread_mutex_destroy(&which->lock);
  free(which);
}

XSK_HANDLE(umem, Umem_body, xsk_umem_leave)
XSK_BLANK_OF_SIZE(umem, Umem_body)

int xsk_umem_adopt(value blank, strata_xdp_umem* handle) {
  Umem_body(blank) = new_body(handle);
  if (Umem_body(blank) != NULL) return 0;
  strata_xdp_umem_close(handle);
  return -ENOMEM;
}

strata_xdp_umem_options xsk_umem_options(value ints) {
  strata_xdp_umem_options options;
  strata_xdp_umem_defaults(&options);
  options.frame_count = (uint32_t)Long_val(Field(ints, 0));
  options.frame_size = (uint32_t)Long_val(Field(ints, 1));
  options.headroom = (uint32_t)Long_val(Field(ints, 2));
  options.unaligned = (uint8_t)Long_val(Field(ints, 3));
  options.huge_pages = (uint8_t)Long_val(Field(ints, 4));
  return options;
}

value xsk_umem_create(value blank, value ints) {
  const strata_xdp_umem_options options = xsk_umem_options(ints);
  strata_xdp_umem* handle = NULL;
  const int code = strata_xdp_umem_create(&options, &handle);
  return Val_int(code != 0 ? code : xsk_umem_adopt(blank, handle));
}

/* A Bigarray of the caller's that a UMEM lies in. */
struct lent_memory {
  value bigarray;
};

/* By xsk_umem_leave alone, which has the runtime lock: sockets are among a UMEM's users. */
static void give_back(void* context) {
  struct lent_memory* const lent = context;
  caml_remove_generational_global_root(&lent->bigarray);
  free(lent);
}

value xsk_umem_create_over(value blank, value ints, value memory) {
  const strata_xdp_umem_options options = xsk_umem_options(ints);
  struct lent_memory* const lent = malloc(sizeof *lent);
  if (lent == NULL) return Val_int(-ENOMEM);
  lent->bigarray = memory;
  caml_register_generational_global_root(&lent->bigarray);
  strata_xdp_umem* handle = NULL;
  const int code = strata_xdp_umem_create_over(Caml_ba_data_val(memory),
                                               caml_ba_byte_size(Caml_ba_array_val(memory)),
                                               &options, give_back, lent, &handle);
  if (code != 0) {
    give_back(lent);
    return Val_int(code);
  }
  return Val_int(xsk_umem_adopt(blank, handle));
}

value xsk_umem_close(value handle) {
  struct umem_body* const body = Umem_body(handle);
  Umem_body(handle) = NULL;
  if (body != NULL) xsk_umem_leave(body);
  return Val_unit;
}

/* --- memory */

/* The Bigarray and all its parts share one of these; the last of them lets the UMEM go. */
struct memory_proxy {
  struct caml_ba_proxy known; /* what the runtime counts in; first */
  struct umem_body* umem;
};

static void finalize_memory(value memory) {
  struct memory_proxy* const proxy = (struct memory_proxy*)Caml_ba_array_val(memory)->proxy;
  if (--proxy->known.refcount != 0) return;
  xsk_umem_leave(proxy->umem);
  free(proxy);
}

/* The runtime's own for Bigarrays, which parts of one inherit, but for `finalize`. */
static struct custom_operations memory_operations;

value xsk_umem_memory(value handle) {
  CAMLparam1(handle);
  CAMLlocal1(made);
  struct memory_proxy* const proxy = malloc(sizeof *proxy);
  if (proxy == NULL) caml_raise_out_of_memory();
  size_t size = 0;
  void* const data = strata_xdp_umem_memory(Umem_body(handle)->handle, &size);
  intnat dimension = (intnat)size;
  /* "Mapped file" is how the runtime calls memory that it shall not free itself. */
  made = caml_ba_alloc(CAML_BA_CHAR | CAML_BA_C_LAYOUT | CAML_BA_MAPPED_FILE, 1, data, &dimension);
  proxy->known.refcount = 1;
  proxy->known.data = data;
  proxy->known.size = size;
  proxy->umem = Umem_body(handle);
  proxy->umem->users++;
  Caml_ba_array_val(made)->proxy = &proxy->known;
  if (memory_operations.finalize == NULL) {
    memory_operations = *Custom_ops_val(made);
    memory_operations.finalize = finalize_memory;
  }
  Custom_ops_val(made) = &memory_operations;
  CAMLreturn(made);
}

intnat xsk_umem_frame_of(value handle, intnat address) {
  if (Umem_body(handle) == NULL) return XSK_CLOSED;
  return (intnat)strata_xdp_umem_frame_of(Umem_body(handle)->handle, (uint64_t)address);
}
XSK_BYTE_ENTRY_2(xsk_umem_frame_of)

intnat xsk_umem_position(value handle, intnat address) {
  if (Umem_body(handle) == NULL) return XSK_CLOSED;
  return (intnat)strata_xdp_umem_position(Umem_body(handle)->handle, (uint64_t)address);
}
XSK_BYTE_ENTRY_2(xsk_umem_position)

value xsk_umem_read(value memory, intnat from, value to, intnat pos, intnat count) {
  memcpy(Bytes_val(to) + pos, (const char*)Caml_ba_data_val(memory) + from, (size_t)count);
  return Val_unit;
}

value xsk_umem_read_byte(value memory, value from, value to, value pos, value count) {
  return xsk_umem_read(memory, Long_val(from), to, Long_val(pos), Long_val(count));
}

value xsk_umem_write(value memory, intnat to, value from, intnat pos, intnat count) {
  memcpy((char*)Caml_ba_data_val(memory) + to, Bytes_val(from) + pos, (size_t)count);
  return Val_unit;
}

value xsk_umem_write_byte(value memory, value to, value from, value pos, value count) {
  return xsk_umem_write(memory, Long_val(to), from, Long_val(pos), Long_val(count));
}
