# SPDX-License-Identifier: Apache-2.0
# Completion for bash. The program itself says what may come next; nothing of the line is evaluated here.

_taskglass() {
    local candidates candidate
    COMPREPLY=()
    candidates=$(command "${1/#\~\//$HOME/}" complete bash -- "$COMP_WORDBREAKS" \
        "${COMP_LINE:0:COMP_POINT}" 2>/dev/null) || {
        compopt -o bashdefault -o default
        return
    }
    while IFS= read -r candidate; do
        [[ -z $candidate ]] || COMPREPLY+=("$candidate")
    done <<<"$candidates"
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[/=] ]]; then
        compopt -o nospace
    fi
}

complete -F _taskglass taskglass
