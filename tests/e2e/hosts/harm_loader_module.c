// SPDX-License-Identifier: Apache-2.0
// A library whose constructor and destructor do what the program says: they run while the loader
// holds its lock. Loaded by harm_loader.c, which has both functions.
void harm_on_load(void);
void harm_on_unload(void);

static __attribute__((constructor)) void load(void)
{
    harm_on_load();
}

static __attribute__((destructor)) void unload(void)
{
    harm_on_unload();
}
