# Completion of strata's command line in fish: the program itself says what fits.
complete -c strata -a '(strata complete -- (commandline -opc)[2..] (commandline -ct) 2> /dev/null)'
