# bash completion for ergocl                                              -*- shell-script -*-
# shellcheck shell=bash disable=SC2207 # words from compgen hold no spaces; files go through -o
_ergocl() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} options="--quiet --verbose --help"
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "run resume validate compare devices help schema kernels --version --help" -- "$word"))
        return
    fi
    case $previous in
    -o | --output)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return
        ;;
    -d | --device)
        COMPREPLY=($(compgen -W "auto gpu cpu" -- "$word"))
        return
        ;;
    -s | --set) return ;;
    esac
    case $command in
    run) options+=" --output --device --set --overwrite" ;;
    resume) options+=" --device" ;;
    validate) options+=" --plan --device --set" ;;
    compare) options+=" --devices --all --output --set --overwrite --json" ;;
    devices) options+=" --check --json" ;;
    kernels) options+=" --dump" ;;
    esac
    if [[ $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
        return
    fi
    case $command in
    run | validate | compare)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -X '!*.json' -- "$word"; compgen -d -- "$word")
        ;;
    resume)
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        ;;
    help)
        COMPREPLY=($(compgen -W "spin-lattice job devices result exit-codes environment run resume validate compare kernels schema" -- "$word"))
        ;;
    kernels) COMPREPLY=($(compgen -W "spin-lattice" -- "$word")) ;;
    esac
}
complete -F _ergocl ergocl
