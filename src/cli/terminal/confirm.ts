import { createInterface } from 'node:readline'
import { isTerminal } from './terminal.ts'

/** Whether a user can be asked: input and messages must be terminals, else a question would block forever. */
export function canAsk(): boolean {
  return isTerminal(process.stdin) && isTerminal(process.stderr)
}

/** The answer of a user; `interrupted` for Ctrl-C. */
export type Answer = 'yes' | 'no' | 'interrupted'

/** Asks a question on standard error. Only y and yes agree; the end of the input declines. */
export function confirm(question: string): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  lines.on('SIGINT', () => {
    resolve('interrupted')
    lines.close()
  })
  lines.on('close', () => resolve('no'))
  lines.question(`${question} [y/N] `, (text) => {
    resolve(/^y(?:es)?$/i.test(text.trim()) ? 'yes' : 'no')
    lines.close()
  })
  return promise
}
