import { Argument, Command } from 'commander'
import { withOutput } from '../options/command-context.ts'
import { addExamples } from '../options/examples.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof SHELLS)[number]

/** `colophon completion <shell>`. */
export function completionCommand(): Command {
  const command = new Command('completion')
    .description('Print a script that completes commands and options in a shell.')
    .addArgument(new Argument('<shell>', 'bash, zsh or fish').choices(SHELLS))
  addExamples(command, [
    ['source <(colophon completion bash)', 'For this shell; in ~/.bashrc for each'],
    ['colophon completion zsh > "${fpath[1]}/_colophon"', 'In zsh'],
    ['colophon completion fish > ~/.config/fish/completions/colophon.fish', 'In fish'],
  ])
  return command.action((shell: Shell) =>
    withOutput({}, async (out) => {
      const { completionFor } = await import('./completion-for.ts')
      await out.write(completionFor(shell, command.parent ?? command))
    }),
  )
}
