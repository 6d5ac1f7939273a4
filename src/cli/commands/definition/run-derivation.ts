import { readFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { isUtf8 } from 'node:buffer'
import {
  NO_RUN,
  readDerivationFile,
  removeDerivationFile,
  tryKeepValues,
  writeDerivationFile,
} from '../../../sheet/definition/change/derivation-file.ts'
import { previewDerivation, type PreviewRequest } from '../../../sheet/preview/preview-derivation.ts'
import { SheetError, ValidationError } from '../../../errors/service-error.ts'
import { toDefinitionChangeAnswer, toPutDerivationAnswer } from '../../../wire/definition/change.ts'
import { toPreviewAnswer, type PreviewAnswer } from '../../../wire/definition/preview.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { writerOf } from '../../options/required-actor.ts'
import { canAsk, confirm } from '../../terminal/confirm.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import { exitCodeOf } from '../../terminal/output.ts'
import { callsText, cellsText, dollars } from '../../terminal/progress-line.ts'
import { tableOf, type Column } from '../../terminal/table.ts'
import { plainScreen, type Screen } from '../../terminal/terminal.ts'
import { visibleLines } from '../../terminal/visible-text.ts'
import { changeText } from './change-text.ts'

export interface ChangeFlags {
  readonly note: string | null
  readonly dryRun: boolean
}

/** Prints the text of a derivation file, also of one that is not valid. Throws as {@link readDerivationFile} does. */
export async function showDerivation({ sheet, out }: CommandContext, file: string): Promise<void> {
  const found = await readDerivationFile(sheet, file)
  await out.print(found, () => visibleLines(found.text.replace(/\n$/, '')))
}

/** Writes a derivation file. Throws as {@link writeDerivationFile} and {@link readText} do. */
export async function setDerivation(
  { sheet, out }: CommandContext,
  file: string,
  { from, keepFresh, ...options }: ChangeFlags & { readonly from: string; readonly keepFresh: boolean },
): Promise<ExitCode> {
  const actor = writerOf(sheet)
  const text = await readText(from)
  const report = await writeDerivationFile(sheet, { file, text }, { ...options, actor, ifMatch: null })
  const { run, error } = keepFresh ? await tryKeepValues(sheet, report, { file, actor }) : NO_RUN
  const kept = (await run?.done)?.materialized ?? null
  const answer = toPutDerivationAnswer(report, { run: run?.id ?? null, error })
  await out.print(answer, (screen) => {
    const effect = changeText(answer, screen)
    return kept === null ? effect : `${effect}\n\nRun ${answer.run_id} marked ${cellsText(kept)} as fresh.`
  })
  if (error !== null) throw error
  return answer.conflicts.length > 0 ? EXIT.error : EXIT.done
}

/** Removes a derivation file; asks at a terminal, after showing the effect. Throws as {@link removeDerivationFile} does. */
export async function removeDerivation(
  { sheet, out }: CommandContext,
  file: string,
  { ask, ...options }: ChangeFlags & { readonly ask: boolean },
): Promise<ExitCode> {
  const change = { ...options, actor: writerOf(sheet), ifMatch: null }
  if (ask && !options.dryRun && canAsk()) {
    const plan = await removeDerivationFile(sheet, file, { ...change, dryRun: true })
    // Messages escape colours.
    out.note(changeText(toDefinitionChangeAnswer(plan), plainScreen(out.screen.columns)))
    const answer = await confirm(`Remove ${file}?`)
    if (answer !== 'yes') {
      out.note('Nothing was changed.')
      return answer === 'interrupted' ? EXIT.interrupted : EXIT.error
    }
  }
  const answer = toDefinitionChangeAnswer(await removeDerivationFile(sheet, file, change))
  await out.print(answer, (screen) => changeText(answer, screen))
  return answer.conflicts.length > 0 ? EXIT.error : EXIT.done
}

/** Tries a derivation on a few records. Throws as {@link previewDerivation} and {@link readText} do. */
export async function showPreview(
  { sheet, out }: CommandContext,
  {
    from,
    ...request
  }: Omit<PreviewRequest, 'text' | 'contract' | 'actor'> & { readonly from: string | null },
): Promise<ExitCode> {
  const actor = writerOf(sheet)
  const text = from === null ? null : await readText(from)
  const never = new AbortController().signal
  const answer = toPreviewAnswer(
    await previewDerivation(sheet, { ...request, text, contract: null, actor }, never),
  )
  await out.print(answer, (screen) => previewText(answer, screen))
  return exitCodeOf(answer.records.filter(({ outcome }) => outcome === 'failed').length)
}

function previewText({ records, calls, total_cost: cost }: PreviewAnswer, screen: Screen): string {
  if (records.length === 0) return 'The sheet has no records.'
  const spent = cost === 0 ? '' : `, ${dollars(cost)}`
  return `${tableOf(PREVIEW_COLUMNS, records, screen)}\n\n${callsText(calls)}${spent}; no cell was stored`
}

type RecordPreview = PreviewAnswer['records'][number]

const PREVIEW_COLUMNS: readonly Column<RecordPreview>[] = [
  { header: 'record', value: ({ record_id: id }) => id },
  { header: 'outcome', value: ({ outcome }) => outcome },
  { header: 'values', value: resultOf },
  { header: 'request', value: ({ request }) => request },
  { header: 'ms', value: ({ ms }) => ms },
]

function resultOf({ values, failures, blocked_by: block }: RecordPreview): unknown {
  const [failure] = Object.values(failures)
  if (failure !== undefined) return failure.error
  if (block !== null) return `${block.field} is empty`
  const entries = Object.entries(values)
  return entries.length === 1 ? entries[0]?.[1] : entries.length === 0 ? null : values
}

/** Reads a text file, or standard input for `-`. Throws SheetError for one that cannot be read, ValidationError for other text than UTF-8. */
async function readText(from: string): Promise<string> {
  let bytes: Buffer
  try {
    bytes = from === '-' ? await buffer(process.stdin) : readFileSync(from)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    throw new SheetError(`${from} cannot be read (${code})`, 'unknown_file')
  }
  if (isUtf8(bytes)) return bytes.toString()
  throw new ValidationError(`${from === '-' ? 'standard input' : from} is not UTF-8 text; save it as UTF-8`)
}
