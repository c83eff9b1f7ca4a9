# SPDX-License-Identifier: Apache-2.0
# Completion of the command lockstep for bash.

# Folders, and files whose names start with $2 and end in one of the suffixes $1; more options for
# compgen may follow.
_lockstep_files()
{
    local suffix
    for suffix in $1; do
        compgen -f -X "!*.$suffix" "${@:3}" -- "$2"
    done
    compgen -d "${@:3}" -- "$2"
}

_lockstep()
{
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} common="--help --usage"
    COMPREPLY=()
    # "--option=value" is three words for bash.
    if [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $current == = ]]; then
        current=
    fi

    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "run tune compile bundle devices conform sim cosim generate chat verify perplexity bench-llm inspect tokenize --version $common" -- "$current"))
        return
    fi
    case $previous in
    --device | --against | --check-with)
        local devices
        devices=$(lockstep devices 2>/dev/null | sed -n 's/^\([a-z][^ ]*\) .*/\1/p')
        COMPREPLY=($(compgen -W "$devices" -- "$current"))
        return
        ;;
    --schedule)
        COMPREPLY=($(compgen -W "ascending reverse seed:" -- "$current"))
        return
        ;;
    --tier)
        COMPREPLY=($(compgen -W "quick optimized" -- "$current"))
        return
        ;;
    --target | --arch)
        COMPREPLY=($(compgen -W "native sse2 avx2 avx512 neon vulkan1.2 sm_75 sm_80 sm_90" -- "$current"))
        return
        ;;
    --emit)
        COMPREPLY=($(compgen -W "ir irb spirv spirv-text ptx" -- "$current"))
        return
        ;;
    --form)
        COMPREPLY=($(compgen -W "auto compiled table sliced" -- "$current"))
        return
        ;;
    --x-init)
        COMPREPLY=($(compgen -W "zero random:" -- "$current"))
        return
        ;;
    --compat)
        COMPREPLY=($(compgen -W "jacquard" -- "$current"))
        return
        ;;
    --after | --lower)
        COMPREPLY=($(compgen -W "all" -- "$current"))
        return
        ;;
    --trace)
        if [[ $command == *sim ]]; then
            COMPREPLY=($(compgen -W "named all ports outputs" -- "$current"))
        else
            COMPREPLY=($(compgen -f -- "$current"))
        fi
        return
        ;;
    --sample)
        COMPREPLY=($(compgen -W "before after" -- "$current"))
        return
        ;;
    --output | -o | --report | --compare | --config | --trace-signals | --output-vcd | --stimulus-vcd | --events | \
        --events-reference | --input-commands | --bus-trace-csv | --cosim-perf-json | --jtag-replay | --record | --replay | \
        --dump-dff | --run-params | --logprobs-file | --load | --save-logits | --kl | --file)
        COMPREPLY=($(compgen -f -- "$current"))
        return
        ;;
    --cache | --check)
        COMPREPLY=($(compgen -d -- "$current"))
        return
        ;;
    --kernel | -k)
        local file names=
        for file in "${COMP_WORDS[@]:2}"; do
            [[ $file == *.kc && -r $file ]] && names+=" $(sed -n \
                's/.*\<kernel\>.*\<void[[:space:]]\+\([A-Za-z_][A-Za-z_0-9]*\)[[:space:]]*(.*/\1/p' \
                "$file")"
        done
        COMPREPLY=($(compgen -W "$names" -- "$current"))
        return
        ;;
    esac
    if [[ $current == @* ]]; then
        COMPREPLY=($(_lockstep_files "npy bin" "${current#@}" -P @))
        return
    fi
    if [[ $previous == -m || $previous == --model || $current != -* && $command == inspect ]]; then
        COMPREPLY=($(_lockstep_files "gguf" "$current"))
        return
    fi
    if [[ $current != -* && $command == tokenize ]]; then
        COMPREPLY=($(compgen -f -- "$current"))
        return
    fi
    if [[ $current != -* && $command == *sim ]]; then
        COMPREPLY=($(_lockstep_files "json v sv vcd" "$current"))
        return
    fi
    if [[ $current != -* ]]; then
        COMPREPLY=($(_lockstep_files "kc ir irb" "$current"))
        return
    fi
    case $command in
    run)
        common+=" --kernel --global --workgroups --define --save --repeat --device --time-limit --budget"
        common+=" --threads --target --tier --cache --no-cache"
        common+=" --out-of-bounds --unchecked --untuned --lower --sanitize --schedule --trace --quiet"
        ;;
    tune)
        common+=" --kernel --global --workgroups --define --rounds --device --time-limit --budget --threads --target"
        common+=" --cache --no-cache --unchecked --json"
        ;;
    compile) common+=" --emit --kernel --target --after --lower --output --define" ;;
    bundle) common+=" --output --kernel --define --target --name --lower --unchecked --check" ;;
    devices) common+=" --verbose" ;;
    generate | chat)
        common+=" --model --tokens --stop --system --date --context --temperature --top-k --top-p --min-p --typical --logit-bias --seed"
        common+=" --repeat-penalty --frequency-penalty --presence-penalty --penalty-window --device --threads --target"
        common+=" --chunk --cache --no-cache --verbose"
        ;;&
    generate) common+=" --prompt --special --chat --logprobs --logprobs-file --digest" ;;
    chat) common+=" --load --no-history" ;;
    verify | perplexity | bench-llm)
        common+=" --model --context --device --threads --target --chunk --cache --no-cache"
        ;;&
    verify) common+=" --tokens --slow-tokens --seed" ;;
    perplexity) common+=" --file --windows --save-logits --kl" ;;
    bench-llm) common+=" --prompt --generate --depth --repeat --json" ;;
    inspect) common+=" --full --json" ;;
    tokenize) common+=" --model --file --no-bos --no-special --lossy --ids --json --count --decode" ;;
    conform)
        common+=" --device --against --filter --seed --quick --report --compare --lower --threads"
        common+=" --target --tier --cache --unprobed --quiet"
        ;;
    sim | cosim)
        common+=" --top --top-module --x-init --seed --max-clock-edges --compat --trace --trace-signals --from --to"
        common+=" --device --threads --target --form --workgroups --tier --batch --cache --no-cache --verbose --quiet"
        ;;&
    sim) common+=" --input-vcd-scope --output-vcd-scope --sample --clock" ;;
    cosim)
        common+=" --config --clock-period --input-commands --jtag-replay --jtag-hold-cycles --instances"
        common+=" --output-vcd --output-vcd-scope --stimulus-vcd --events --events-reference --bus-trace-csv"
        common+=" --cosim-perf-json --report --console --input --record --replay --check-with"
        common+=" --run-params --dump-dff --dump-dff-cycles --flash-verbose"
        ;;
    esac
    COMPREPLY=($(compgen -W "$common" -- "$current"))
}

complete -o filenames -F _lockstep lockstep
