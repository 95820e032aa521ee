# Completion for fish; make install puts it into share/fish/vendor_completions.d. Commands, options and names
# come from the help of the program that is being completed.

function __ergocl_program
    set -l words (commandline -opc)
    echo $words[1]
end

function __ergocl_commands
    eval (__ergocl_program) --help 2>/dev/null | sed -n '/^usage/,/^Exit/s/^  \([a-z-]*\) [^ ]* *\(.*\)/\1\t\2/p'
end

function __ergocl_command_is
    set -l words (commandline -opc)
    set -q words[2]; and contains -- $words[2] $argv
end

function __ergocl_options
    set -l words (commandline -opc)
    eval (__ergocl_program) $words[2] --help 2>/dev/null |
        sed -n 's/^  *\(-[a-z], \)\{0,1\}\(--[a-z]*\)[^ ]* *\(.*\)/\2\t\3/p'
end

function __ergocl_samplers
    eval (__ergocl_program) help 2>/dev/null | sed -n '/^Samplers/,/^Topics/s/^  \([a-z-]*\)$/\1/p'
end

function __ergocl_models
    for sampler in (__ergocl_samplers)
        eval (__ergocl_program) help $sampler 2>/dev/null | sed -n '/^Models/,/^The key/s/^  \([a-z-]*\)$/\1/p'
    end
end

function __ergocl_examples
    eval (__ergocl_program) examples 2>/dev/null | sed -n 's/^\([a-z0-9-]*\)  (.*/\1/p'
end

complete -c ergocl -f
complete -c ergocl -n '__fish_is_nth_token 1' -a '(__ergocl_commands)'
complete -c ergocl -n 'not __fish_is_nth_token 1; and string match -q -- "-*" (commandline -ct)' -a '(__ergocl_options)'
complete -c ergocl -n '__ergocl_command_is run validate compare tune' -F
complete -c ergocl -n '__ergocl_command_is resume report' -a '(__fish_complete_directories)'
complete -c ergocl -n '__ergocl_command_is help new kernels' -a '(__ergocl_samplers) (__ergocl_models)'
complete -c ergocl -n '__ergocl_command_is examples' -a '(__ergocl_examples)'
