import { upsertFile, upsertStream, type InputOptions } from '../../../sheet/transfer/upsert-input.ts'
import { guessText } from '../../terminal/guess-question.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { grouped } from '../../terminal/progress-line.ts'
import { isTerminal } from '../../terminal/terminal.ts'
import { writerOf } from '../../options/required-actor.ts'

export interface WhatToUpsert extends Pick<InputOptions, 'format' | 'dateOrder'> {
  /** The file; `-` is standard input. */
  readonly file: string
}

/** Upserts an input and prints the result. Throws as {@link upsertFile} and {@link upsertStream} do, and UsageError. */
export async function runUpsert(
  { sheet, out }: CommandContext,
  { file, format, dateOrder = null }: WhatToUpsert,
): Promise<void> {
  const options = {
    format,
    dateOrder,
    actor: writerOf(sheet),
    onGuess: (guess: string) => out.note(guessText(guess)),
  }
  if (file === '-' && isTerminal(process.stdin))
    out.note('Reading records from the terminal; Ctrl-D ends them.')
  const { inserted, updated, total } =
    file === '-'
      ? await upsertStream(sheet, { stream: process.stdin, name: 'standard input' }, options)
      : await upsertFile(sheet, file, options)
  await out.print(
    { inserted, updated, total },
    () => `${grouped(inserted)} inserted, ${grouped(updated)} updated, ${grouped(total)} in the sheet`,
  )
}
