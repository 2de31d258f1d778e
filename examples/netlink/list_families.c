/* Lists the generic netlink families of this kernel by a dump, in plain C, and then what it knows
 * of one: list_families [NAME]. cc list_families.c $(pkg-config --cflags --libs strata-c) */
#include <stdio.h>
#include <strata/strata_nl.h>

/* Of linux/genetlink.h. */
enum { GETFAMILY = 3, FAMILY_ID = 1, FAMILY_NAME = 2 };

static void show(void* context, const strata_nl_message* message) {
  size_t* const count = context;
  strata_nl_attribute id;
  strata_nl_attribute name;
  uint64_t number = 0;
  size_t size = 0;
  if (!strata_nl_find(message->attributes, FAMILY_ID, &id) || !strata_nl_number(&id, &number) ||
      !strata_nl_find(message->attributes, FAMILY_NAME, &name))
    return;
  const char* const text = strata_nl_text(&name, &size);
  printf("%2llu %.*s\n", (unsigned long long)number, (int)size, text);
  ++*count;
}

static int describe(strata_nl* on, const char* name) {
  strata_nl_families* told = NULL;
  const int code = strata_nl_families_open(on, name, &told);
  if (code != 0) return code;
  const strata_nl_family* const family = strata_nl_families_at(told, 0);
  printf("%s: number %u, version %u, %zu operations\n", family->name, family->id, family->version,
         family->operation_count);
  for (size_t i = 0; i < family->group_count; ++i) {
    printf("  group %s: %u\n", family->groups[i].name, family->groups[i].id);
  }
  strata_nl_families_close(told);
  return 0;
}

int main(int argc, char** argv) {
  strata_nl* on = NULL;
  uint16_t controller = 0;
  size_t count = 0;
  int code = strata_nl_open(NULL, &on);
  if (code == 0) code = strata_nl_resolve(on, "nlctrl", &controller);
  if (code == 0) {
    strata_nl_begin(on, controller, GETFAMILY, 1);
    code = strata_nl_dump(on, show, &count);
  }
  if (code == 0) code = describe(on, argc > 1 ? argv[1] : "nlctrl");
  if (code != 0) fprintf(stderr, "%s\n", strata_last_error());
  strata_nl_close(on);
  return code != 0 || count == 0;
}
