# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Completion of `weft` in bash.

_weft() {
    local current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} i
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "run info help --help --version" -- "$current")
        return
    fi
    case $command in
    help)
        ((COMP_CWORD == 2)) && mapfile -t COMPREPLY < <(compgen -W "run info" -- "$current")
        return
        ;;
    info)
        ((COMP_CWORD == 2)) && mapfile -t COMPREPLY < <(compgen -W "--check --json --help" -- "$current")
        return
        ;;
    run) ;;
    *) return ;;
    esac
    # Bash makes "=" a word of its own.
    for ((i = 2; i < COMP_CWORD; ++i)); do
        case ${COMP_WORDS[i]} in
        --)
            _weft_program $((i + 1))
            return
            ;;
        --harts | --trace | --openmp | --tbb | --blas | --guests | --report)
            if [[ ${COMP_WORDS[i + 1]} == "=" ]]; then
                ((i + 1 == COMP_CWORD || i + 2 == COMP_CWORD)) && { _weft_value "${COMP_WORDS[i]}"; return; }
                ((i += 2))
            elif [[ ${COMP_WORDS[i]} != --report ]]; then
                ((i + 1 == COMP_CWORD)) && { _weft_value "${COMP_WORDS[i]}"; return; }
                ((i += 1))
            fi
            ;;
        -*) ;;
        *)
            _weft_program "$i"
            return
            ;;
        esac
    done
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "--harts --report --report=json --no-rescue --openmp= --tbb= --blas= \
            --guests= --preview --trace --help" -- "$current")
        [[ ${COMPREPLY[0]} == *= && ${#COMPREPLY[@]} == 1 ]] && compopt -o nospace
    else
        _weft_program "$COMP_CWORD"
    fi
}

# The value of the option $1.
_weft_value() {
    local current=${COMP_WORDS[COMP_CWORD]#=}
    case $1 in
    --openmp | --tbb | --blas) mapfile -t COMPREPLY < <(compgen -W "weft native" -- "$current") ;;
    --guests) mapfile -t COMPREPLY < <(compgen -W "admit leave" -- "$current") ;;
    --report) mapfile -t COMPREPLY < <(compgen -W "json" -- "$current"; compgen -f -- "$current") ;;
    --trace) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    esac
}

# The program, which is word $1, or its arguments.
_weft_program() {
    if declare -F _command_offset >/dev/null; then
        _command_offset "$1"
    elif ((COMP_CWORD == $1)); then
        mapfile -t COMPREPLY < <(compgen -c -f -- "${COMP_WORDS[COMP_CWORD]}")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
    fi
}

complete -F _weft weft
