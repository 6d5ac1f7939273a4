import type { Command } from 'commander'
import { bashCompletion } from './bash-completion.ts'
import { commandWords } from './command-words.ts'
import { fishCompletion } from './fish-completion.ts'
import { zshCompletion } from './zsh-completion.ts'

/** Returns the script that completes a program in a shell. */
export function completionFor(shell: 'bash' | 'zsh' | 'fish', program: Command): string {
  const commands = commandWords(program)
  switch (shell) {
    case 'bash':
      return bashCompletion(commands)
    case 'zsh':
      return zshCompletion(commands)
    case 'fish':
      return fishCompletion(commands)
  }
}
