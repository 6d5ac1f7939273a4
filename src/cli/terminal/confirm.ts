import { createInterface } from 'node:readline'
import { isTerminal } from './terminal.ts'

/** Whether somebody is there to be asked: where input or messages are no terminal, a question would hang for ever. */
export function canAsk(): boolean {
  return isTerminal(process.stdin) && isTerminal(process.stderr)
}

/** What somebody answered; `interrupted` for Ctrl-C. */
export type Answer = 'yes' | 'no' | 'interrupted'

/** Asks a question that only y and yes agree to, on standard error; the end of the input is a no. */
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
