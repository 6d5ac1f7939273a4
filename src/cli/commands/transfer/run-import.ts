import { OperationError } from '../../../errors/service-error.ts'
import {
  ImportDeclined,
  importRecords,
  inputFormatOf,
  spool,
  type FileSource,
  type ImportFault,
  type ImportOptions,
  type ImportProgress,
  type ImportResult,
} from '../../../sheet/transfer/import-records.ts'
import { GuessQuestion, guessText } from '../../terminal/guess-question.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import { showFileProgress } from './file-progress.ts'
import { onInterrupt } from '../../terminal/interrupts.ts'
import { grouped, recordsText } from '../../terminal/progress-line.ts'
import { usualProgress, type ProgressStyle } from '../../terminal/progress.ts'
import { UsageError } from '../../options/usage-error.ts'
import { writerOf } from '../../options/required-actor.ts'

export interface WhatToImport extends Pick<ImportOptions, 'dryRun' | 'check' | 'keepEmpty' | 'read' | 'key'> {
  /** The file; `-` is standard input. */
  readonly file: string
  /** The format; null detects it from the name of the file. */
  readonly format: ImportOptions['format'] | null
  /** The style of progress; null is a bar at a terminal. */
  readonly progress: ProgressStyle | null
  /** Whether to ask, at a terminal, when something was guessed. */
  readonly ask: boolean
}

/**
 * Imports a file and prints the result; errors go to standard error, one per line. Ctrl-C stops it between two batches.
 * Throws as {@link importRecords} does, and UsageError.
 */
export async function runImport(
  { sheet, out }: CommandContext,
  { file, format: given, progress, ask, ...options }: WhatToImport,
): Promise<ExitCode> {
  const actor = writerOf(sheet)
  const format = given ?? inputFormatOf(file)
  if (format === null) {
    const what =
      file === '-'
        ? 'the format of standard input is unknown'
        : `the format of ${file} cannot be told from its name`
    throw new UsageError(`${what}; give it with --input-format`)
  }
  const stop = new AbortController()
  const interrupts = onInterrupt(() =>
    stop.abort(new OperationError('the import was stopped', 'call_cancelled')),
  )
  let seen: ImportProgress | undefined
  const show = (): (() => void) =>
    showFileProgress(progress ?? usualProgress(), () => {
      if (seen === undefined) return undefined
      const { phase, records, share } = seen
      return { what: phase === 'check' ? 'checked' : 'written', done: records, amount: recordsText, share }
    })
  let hide = show()
  const question = new GuessQuestion('Import it like this?', ask)
  try {
    const result = await withSource(file, (source) =>
      importRecords(sheet, source, {
        ...options,
        format,
        actor,
        signal: stop.signal,
        onGuess: (guess) => {
          hide()
          out.note(guessText(guess))
          hide = show()
        },
        confirm: async () => {
          hide()
          const right = await question.isRight()
          hide = show()
          return right
        },
        onProgress: (now) => {
          seen = now
        },
      }),
    )
    hide()
    return await printResult(out, result)
  } catch (error) {
    hide()
    if (error instanceof ImportDeclined) {
      out.note('Nothing was written.')
      return question.interrupted ? EXIT.interrupted : EXIT.error
    }
    if (!interrupts.seen || !(error instanceof OperationError)) throw error
    out.note(error.message)
    return EXIT.interrupted
  } finally {
    interrupts.release()
  }
}

async function withSource<T>(file: string, work: (source: FileSource) => Promise<T>): Promise<T> {
  if (file !== '-') return work({ path: file, name: file })
  const spooled = await spool(process.stdin, 'standard input')
  try {
    return await work(spooled)
  } finally {
    await spooled.remove()
  }
}

async function printResult(out: CommandContext['out'], result: ImportResult): Promise<ExitCode> {
  const { records, inserted, updated, unchanged, faults, faultCount, written, run } = result
  for (const fault of faults) out.fault(faultText(fault))
  const more = faultCount - faults.length
  if (more > 0) out.note(`and ${grouped(more)} more ${more === 1 ? 'error' : 'errors'}`)
  await out.print(
    {
      records,
      inserted,
      updated,
      unchanged,
      written,
      run_id: run,
      faults: faults.map(({ place, id, field, message }) => ({ place, id, field, message })),
      fault_count: faultCount,
    },
    () => summary(result),
  )
  return faultCount > 0 ? EXIT.error : EXIT.done
}

function faultText({ place, id, field, message }: ImportFault): string {
  const who = id === null ? 'no id' : `id ${JSON.stringify(id)}`
  return `${place} (${who}), field ${JSON.stringify(field)}: ${message}`
}

function summary({ inserted, updated, unchanged, faultCount, written, run }: ImportResult): string {
  const counts = `${grouped(inserted)} inserted, ${grouped(updated)} updated, ${grouped(unchanged)} unchanged`
  if (written) return run === null ? counts : `${counts} (run ${run})`
  const faults = faultCount === 0 ? '' : `, ${grouped(faultCount)} ${faultCount === 1 ? 'error' : 'errors'}`
  return `nothing was written; it would be ${counts}${faults}`
}
