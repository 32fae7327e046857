# SPDX-License-Identifier: Apache-2.0
# Completion for bash. The program itself says what may come next; nothing of the line is evaluated here.

_taskglass() {
    local program=${1/#\~\//$HOME/} candidates candidate
    local line=${COMP_LINE:0:${COMP_POINT:-0}}
    COMPREPLY=()
    # A program that calls this function may have set the words alone.
    [[ -n $line ]] || printf -v line '%q ' "${COMP_WORDS[@]:0:COMP_CWORD}"
    [[ -n $COMP_LINE ]] || line+=${COMP_WORDS[COMP_CWORD]}
    candidates=$(command "$program" complete bash -- "$COMP_WORDBREAKS" "$line" 2>/dev/null) || {
        compopt -o bashdefault -o default 2>/dev/null
        return
    }
    while IFS= read -r candidate; do
        [[ -z $candidate ]] || COMPREPLY+=("$candidate")
    done <<<"$candidates"
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/=] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}

complete -F _taskglass taskglass
