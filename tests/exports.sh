#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exports.sh LIBRARY INCLUDE_DIR NM CC: the library exports exactly what the public headers declare
# with TG_API. Names what is exported and not declared, and what is declared and not exported.
library=$1
include=$2
nm=$3
cc=$4
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# The preprocessor drops comments and turns TG_API into its attribute; what follows the attribute, up
# to a semicolon, declares one function or object. Objects have a name and no parenthesis.
for header in $(cd "$include" && find taskglass -name '*.h' | sort); do
    echo "#include <$header>" | $cc -std=c11 -E -P -x c -I"$include" - || exit 1
done | tr '\n' ' ' | tr ';' '\n' |
    sed -n 's/.*visibility("default")))//p' |
    sed -e 's/^\([^(]*\)\[.*/\1/' -e 's/ *(.*//' -e 's/.*[^A-Za-z0-9_]//' |
    sort -u >"$folder/declared"

# A is the name of the version itself.
$nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
    sort -u >"$folder/exported"

failed=0
[ -s "$folder/declared" ] && [ -s "$folder/exported" ] || {
    echo "no declarations in $include, or no symbols in $library"
    failed=1
}
for name in $(comm -13 "$folder/declared" "$folder/exported"); do
    echo "$name is exported, but no public header declares it with TG_API"
    failed=1
done
for name in $(comm -23 "$folder/declared" "$folder/exported"); do
    echo "$name is declared with TG_API in a public header, but the library does not export it"
    failed=1
done
[ $failed -ne 0 ] || echo "$(wc -l <"$folder/exported") symbols, all of them declared"
exit $failed
