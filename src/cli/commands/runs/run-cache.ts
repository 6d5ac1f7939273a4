import {
  changeKeptResponses,
  readKeptResponses,
  type ResponsesChange,
} from '../../../sheet/calls/kept-responses.ts'
import { toKeptResponsesAnswer } from '../../../wire/runs/response-cache.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { canAsk, confirm } from '../../terminal/confirm.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import { grouped } from '../../terminal/progress-line.ts'

type Summary = Awaited<ReturnType<typeof readKeptResponses>>

/** Prints the size and the limit of the kept responses. Throws as {@link readKeptResponses} does. */
export async function showCache({ sheet, out }: CommandContext): Promise<void> {
  const summary = await readKeptResponses(sheet)
  await out.print(toKeptResponsesAnswer(summary, null), () => summaryText(summary))
}

/** Removes kept responses and sets the limit; asks before removing any. Throws as {@link changeKeptResponses} does. */
export async function changeCache(
  { sheet, out }: CommandContext,
  change: ResponsesChange,
  { ask }: { readonly ask: boolean },
): Promise<ExitCode> {
  const before = await readKeptResponses(sheet)
  if (ask && canAsk() && mayRemove(before, change)) {
    out.note(summaryText(before))
    const answer = await confirm(
      'Remove kept responses, and the recording of their calls? Calls that need them again will cost again.',
    )
    if (answer !== 'yes') {
      out.note('Nothing was removed.')
      return answer === 'interrupted' ? EXIT.interrupted : EXIT.error
    }
  }
  const removed = await changeKeptResponses(sheet, change)
  const after = await readKeptResponses(sheet)
  await out.print(
    toKeptResponsesAnswer(after, removed),
    () => `${responsesText(removed.removed)} removed (${sizeText(removed.bytes)})\n${summaryText(after)}`,
  )
  return EXIT.done
}

function mayRemove(
  { bytes, recordedBytes }: Summary,
  { limit, olderThanMs, trimTo }: ResponsesChange,
): boolean {
  const largest = Math.max(bytes, recordedBytes)
  if (largest === 0) return false
  return olderThanMs !== null || largest > Math.min(limit ?? Infinity, trimTo ?? Infinity)
}

function summaryText({ count, bytes, limit, recordedBytes, oldest, newest }: Summary): string {
  const sum =
    `${responsesText(count)}, ${sizeText(bytes)} of at most ${sizeText(limit)}\n` +
    `recording: ${sizeText(recordedBytes)} of at most ${sizeText(limit)}`
  return oldest === null ? sum : `${sum}\nreceived from ${oldest} to ${newest ?? oldest}`
}

function responsesText(count: number): string {
  return `${grouped(count)} kept ${count === 1 ? 'response' : 'responses'}`
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

function sizeText(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1024 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const size = bytes / 1024 ** power
  return `${power === 0 || size >= 100 ? Math.round(size) : Number(size.toFixed(1))} ${UNITS[power] ?? 'B'}`
}
