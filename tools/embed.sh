#!/bin/sh
# Print C source that holds every *.cl and *.h file below the folder $1, for core/program.h.
# Bytes as numbers: no string length limit, no escapes to get wrong. Needs only od and awk.
set -eu
if [ $# -ne 1 ] || [ ! -d "$1" ]; then
    echo "usage: embed.sh FOLDER > embedded.c" >&2
    exit 2
fi
LC_ALL=C
export LC_ALL
cd "$1"

echo '/* Made by tools/embed.sh: do not edit. */'
echo '#include "core/program.h"'
find . -type f \( -name '*.cl' -o -name '*.h' \) | sed 's|^\./||' | sort | {
    table=''
    n=0
    while IFS= read -r file; do
        echo
        printf 'static const unsigned char text_%d[] = {\n' "$n"
        # The closing zero makes the bytes a C string; length leaves it out.
        od -An -v -tu1 "$file" | awk '{ gsub(/[0-9]+/, "&,"); print }'
        echo '0};'
        table="$table    {\"$file\", (const char *)text_$n, sizeof text_$n - 1},
"
        n=$((n + 1))
    done
    # A table of no entries is not C; an empty path is never asked for.
    [ "$n" -gt 0 ] || table='    {"", "", 0},
'
    printf '\nconst struct ergo_embedded ergo_embedded_files[] = {\n%s};\n' "$table"
    printf 'const size_t ergo_embedded_count = %d;\n' "$n"
}
