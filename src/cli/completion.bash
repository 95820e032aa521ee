# bash completion for ergocl                                              -*- shell-script -*-
# shellcheck shell=bash disable=SC2207 # words from compgen hold no spaces; files go through -o

# The samplers of the program that is being completed.
_ergocl_samplers() {
    "${COMP_WORDS[0]/#\~/$HOME}" help 2>/dev/null | sed -n '/^Samplers/,/^Topics/s/^  \([a-z-]*\)$/\1/p'
}

# The models of samplers that have several.
_ergocl_models() {
    local program=${COMP_WORDS[0]/#\~/$HOME} sampler
    for sampler in ${1:-$(_ergocl_samplers)}; do
        "$program" help "$sampler" 2>/dev/null | sed -n '/^Models/,/^The key/s/^  \([a-z-]*\)$/\1/p'
    done
}

_ergocl_examples() {
    "${COMP_WORDS[0]/#\~/$HOME}" examples 2>/dev/null | sed -n 's/^\([a-z0-9-]*\)  (.*/\1/p'
}

_ergocl() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} options="--quiet --verbose --help"
    local commands="new examples run resume merge validate report table analyse compare tune bench devices help schema kernels"
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "$commands --version --help" -- "$word"))
        return
    fi
    case $previous in
    -o | --output)
        compopt -o filenames
        case $command in
        new | report | analyse | tune | bench) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        *) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
        esac
        return
        ;;
    --programs)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return
        ;;
    -d | --device | --devices)
        COMPREPLY=($(compgen -W "auto gpu cpu" -- "$word"))
        return
        ;;
    --sampler)
        COMPREPLY=($(compgen -W "$(_ergocl_samplers)" -- "$word"))
        return
        ;;
    --on-failure)
        COMPREPLY=($(compgen -W "stop redistribute" -- "$word"))
        return
        ;;
    -s | --set | --part | --seconds | --search | --reweight | --observable | --curve | --crossing | --fit | --window | --correction | --coexistence) return ;;
    esac
    case $command in
    new) options+=" --output --overwrite" ;;
    help) options+=" --search" ;;
    run) options+=" --output --device --set --overwrite --part --on-failure" ;;
    resume) options+=" --device --set --on-failure" ;;
    merge) options+=" --output --overwrite" ;;
    validate) options+=" --plan --device --set" ;;
    report) options+=" --output --overwrite" ;;
    analyse)
        options+=" --output --overwrite --json --csv --reweight --observable --crossing --fit --window --correction --coexistence --critical"
        ;;
    table) options+=" --csv --observable --curve" ;;
    compare) options+=" --devices --all --merge --output --set --overwrite --json" ;;
    tune) options+=" --output --device --set --seconds" ;;
    bench) options+=" --output --device --sampler --seconds --list" ;;
    devices) options+=" --check --report --json" ;;
    kernels) options+=" --dump --programs --device --set" ;;
    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
        return
    fi
    case $command in
    run | validate | compare | tune)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -X '!*.json' -- "$word"; compgen -d -- "$word")
        ;;
    resume | merge | report | table | analyse)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        ;;
    examples) COMPREPLY=($(compgen -W "$(_ergocl_examples)" -- "$word")) ;;
    new | help)
        if [ "$COMP_CWORD" -gt 2 ]; then
            COMPREPLY=($(compgen -W "$(_ergocl_models "$previous")" -- "$word"))
        else
            COMPREPLY=($(compgen -W "$(_ergocl_samplers) $(_ergocl_models) $commands job result errors configurations extend exit-codes environment words" -- "$word"))
        fi
        ;;
    kernels)
        if [[ " ${COMP_WORDS[*]} " == *" --programs"* ]]; then
            compopt -o filenames
            mapfile -t COMPREPLY < <(compgen -f -X '!*.json' -- "$word"; compgen -d -- "$word")
        else
            COMPREPLY=($(compgen -W "$(_ergocl_samplers)" -- "$word"))
        fi
        ;;
    esac
}
complete -F _ergocl ergocl
