// SPDX-License-Identifier: Apache-2.0
// The exporters by name. Called by `lightmeter export`. Threads: no state.
#include "export/export.h"

#include "base/buf.h"

#include <string.h>

#define ROW(name) extern const struct exporter exporter_##name;
#include "export/exporters/registry.def"
#undef ROW

static const struct exporter *const exporters[] = {
#define ROW(name) &exporter_##name,
#include "export/exporters/registry.def"
#undef ROW
    NULL,
};

const struct exporter *const *exporter_all(void)
{
    return exporters;
}

const struct exporter *exporter_find(const char *name, struct err *e)
{
    struct buf names = {0};
    for (size_t i = 0; exporters[i]; i++) {
        if (strcmp(exporters[i]->name, name) == 0) {
            buf_fini(&names);
            return exporters[i];
        }
        buf_printf(&names, "%s%s", i ? ", " : "", exporters[i]->name);
    }
    err_set(e, "there is no export format '%s'; use one of %s", name, buf_text(&names));
    buf_fini(&names);
    return NULL;
}
