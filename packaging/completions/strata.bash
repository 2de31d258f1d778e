# Completion of strata's command line in bash: the program itself says what fits.
_strata() {
  local -a fitting
  mapfile -t fitting < <("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  COMPREPLY=("${fitting[@]}")
}
complete -o default -F _strata strata
