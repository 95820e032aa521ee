#!/bin/sh
# Print C source that holds every *.cl and *.h file below the folder $1, for device/program.h; or, as
# embed.sh FOLDER '*.json' FILES COUNT, other files in a table and a number of those names.
# Bytes as numbers: no string length limit, no escapes to get wrong. Needs only od and awk.
set -eu
if { [ $# -ne 1 ] && [ $# -ne 4 ]; } || [ ! -d "$1" ]; then
    echo "usage: embed.sh FOLDER [PATTERN FILES COUNT] > embedded.c" >&2
    exit 2
fi
LC_ALL=C
export LC_ALL
cd "$1"
pattern=${2:-*.cl} files=${3:-ergo_embedded_files} count=${4:-ergo_embedded_count}
other=$pattern
[ $# -ne 1 ] || other='*.h'

echo '/* Made by tools/embed.sh: do not edit. */'
echo '#include "device/program.h"'
# declared before it is defined: the header knows only the kernels' own
[ $# -eq 1 ] || printf 'extern const struct ergo_embedded %s[];\nextern const size_t %s;\n' "$files" "$count"
find . -type f \( -name "$pattern" -o -name "$other" \) | sed 's|^\./||' | sort | {
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
    printf '\nconst struct ergo_embedded %s[] = {\n%s};\n' "$files" "$table"
    printf 'const size_t %s = %d;\n' "$count" "$n"
}
