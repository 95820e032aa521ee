#compdef ergocl
# Completion for zsh; make install puts it into share/zsh/site-functions as _ergocl. Commands, options and
# names come from the help of the program that is being completed.

_ergocl_names() { # samplers, and models with them: PROGRAM
    $1 help 2>/dev/null | sed -n '/^Samplers/,/^Topics/s/^  \([a-z-]*\)$/\1/p'
}

_ergocl() {
    local program=${~words[1]} command=${words[2]} word=${words[CURRENT]} previous=${words[CURRENT - 1]} sampler
    local -a names
    if ((CURRENT == 2)); then
        names=($($program --help 2>/dev/null | sed -n '/^usage/,/^Exit/s/^  \([a-z-]*\) .*/\1/p'))
        compadd -- $names
        return
    fi
    case $previous in
    -d | --device | --devices)
        compadd -- auto gpu cpu
        return
        ;;
    --sampler)
        names=($(_ergocl_names $program))
        compadd -- $names
        return
        ;;
    -s | --set | --seconds | --search) return ;;
    -o | --output | --programs)
        _files
        return
        ;;
    esac
    if [[ $word == -* ]]; then
        names=($($program $command --help 2>/dev/null | sed -n 's/^  *\(-[a-z], \)\{0,1\}\(--[a-z]*\).*/\2/p'))
        compadd -- $names
        return
    fi
    case $command in
    run | validate | compare | tune) _files -g '*.json' ;;
    resume | report) _files -/ ;;
    help | new | kernels)
        names=($(_ergocl_names $program))
        for sampler in $names; do
            ((CURRENT > 3)) && [[ $previous != "$sampler" ]] && continue
            names+=($($program help $sampler 2>/dev/null | sed -n '/^Models/,/^The key/s/^  \([a-z-]*\)$/\1/p'))
        done
        compadd -- $names
        ;;
    examples)
        names=($($program examples 2>/dev/null | sed -n 's/^\([a-z0-9-]*\)  (.*/\1/p'))
        compadd -- $names
        ;;
    esac
}

_ergocl "$@"
