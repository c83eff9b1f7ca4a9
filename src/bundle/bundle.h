/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of bundles share: names and limits. docs/bundle.md describes the folder. */
#ifndef LS_BUNDLE_BUNDLE_H
#define LS_BUNDLE_BUNDLE_H

#include <jansson.h>

#include "base/str.h"
#include "lockstep/bundle.h"

#define LS__BUNDLE_FORMAT "lockstep bundle"
#define LS__BUNDLE_MANIFEST "bundle.json"
#define LS__BUNDLE_MODULE "program.irb"
#define LS__BUNDLE_TEXT "program.ir"
#define LS__BUNDLE_CODE_SUFFIX ".lscode"
enum {
    LS__BUNDLE_VERSION = 1,
    LS__BUNDLE_MAX_MANIFEST = 1 << 24,
    LS__BUNDLE_MAX_FILE = 1 << 30,
    LS__BUNDLE_MAX_CODES = 256
};

/* The description of the bundle in the folder `path`; json_decref. It may be of another
 * version. `digest` as in ls_bundle_params. */
ls_status ls__bundle_read_manifest(const char *path, const char *digest, json_t **manifest,
                                   ls_error *error);

/* The launcher of the module's kernels (launcher.c): C that includes lockstep/bundle.h. `digest` is
 * that of the description. LS_E_UNSUPPORTED names what has no spelling in C. */
ls_status ls__bundle_launcher_header(const ls_module *module, const char *name, ls__strbuf *out,
                                     ls_error *error);
ls_status ls__bundle_launcher_source(const ls_module *module, const char *name, const char *digest,
                                     ls__strbuf *out, ls_error *error);
bool ls__bundle_is_identifier(const char *name);

#endif
