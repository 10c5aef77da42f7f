# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Completion of `weft` in fish.

complete -c weft -f
complete -c weft -n __fish_use_subcommand -a run -d 'Run a program whose parallel libraries share the processors'
complete -c weft -n __fish_use_subcommand -a info -d 'Show hardware threads, settings and environment variables'
complete -c weft -n __fish_use_subcommand -a help -d 'Print the options of a command'
complete -c weft -n __fish_use_subcommand -l help -d 'Print the commands'
complete -c weft -n __fish_use_subcommand -l version -d 'Print the version'

complete -c weft -n '__fish_seen_subcommand_from help' -a 'run info'

complete -c weft -n '__fish_seen_subcommand_from info' -l check -d 'Print only what is wrong'
complete -c weft -n '__fish_seen_subcommand_from info' -l json -d 'Print JSON'
complete -c weft -n '__fish_seen_subcommand_from info' -l help -d 'Print the options'

complete -c weft -n '__fish_seen_subcommand_from run' -l harts -x -d 'Use at most so many hardware threads'
complete -c weft -n '__fish_seen_subcommand_from run' -l report -d 'Say at exit what was taken over'
complete -c weft -n '__fish_seen_subcommand_from run' -l no-rescue -d 'Do not run other work while a thread blocks'
complete -c weft -n '__fish_seen_subcommand_from run' -l openmp -x -a 'weft native' -d 'Run OpenMP on Weft or natively'
complete -c weft -n '__fish_seen_subcommand_from run' -l tbb -x -a 'weft native' -d "Weft's workers for oneTBB, or its own"
complete -c weft -n '__fish_seen_subcommand_from run' -l blas -x -a 'weft native' -d 'Fit the threads of OpenBLAS to the load'
complete -c weft -n '__fish_seen_subcommand_from run' -l guests -x -a 'admit leave' -d "The program's own threads"
complete -c weft -n '__fish_seen_subcommand_from run' -l preview -d 'Say what would be taken over'
complete -c weft -n '__fish_seen_subcommand_from run' -l trace -r -F -d 'Write a trace to a file'
complete -c weft -n '__fish_seen_subcommand_from run' -l help -d 'Print the options'
complete -c weft -n '__fish_seen_subcommand_from run' -xa '(__fish_complete_subcommand --fcs-skip=2)'
