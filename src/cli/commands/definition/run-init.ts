import { basename } from 'node:path'
import { inputKind, spoolInput, type InputKind } from '../../../sheet/lifecycle/init-input.ts'
import {
  InitDeclined,
  initSheet,
  type InitPreview,
  type InitReport,
  type InitSource,
} from '../../../sheet/lifecycle/init-sheet.ts'
import type { LogicalType } from '../../../sheet/schema/logical-types.ts'
import type { ReadFileOptions } from '../../../sheet/transfer/read-file-options.ts'
import { toInitWire } from '../../../wire/definition/init.ts'
import { GuessQuestion, guessText } from '../../terminal/guess-question.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import { onInterrupt } from '../../terminal/interrupts.ts'
import type { Output } from '../../terminal/output.ts'
import { grouped } from '../../terminal/progress-line.ts'
import { tableOf, type Column } from '../../terminal/table.ts'

import { isTerminal, plainScreen, screenOf, type Screen } from '../../terminal/terminal.ts'
import { UsageError } from '../../options/usage-error.ts'
import { visibleText } from '../../terminal/visible-text.ts'

/** The arguments of `init`. */
export interface InitRequest {
  readonly directory: string
  readonly from: string | null
  readonly inputFormat: InputKind | null
  /** The column of the ids; null detects one, false numbers the records. */
  readonly key: string | false | null
  readonly contract: string | null
  readonly schema: string | null
  /** The maximum size of an unpacked archive, in bytes. */
  readonly maxBytes: number
  readonly actor: string | null
  /** Options for reading the file of records; those that are absent are inferred. */
  readonly read: ReadFileOptions
  readonly types: ReadonlyMap<string, LogicalType>
  /** Whether to ask, at a terminal, when something was guessed. */
  readonly ask: boolean
}

/** Creates a sheet and prints the result. Throws UsageError, and as {@link initSheet} does. */
export async function runInit(out: Output, request: InitRequest): Promise<ExitCode> {
  checkUsage(request)
  const question = new GuessQuestion('Create the sheet like this?', request.ask)
  const stop = new AbortController()
  const interrupts = onInterrupt(() => stop.abort())
  const progress = progressTo(process.stderr)
  let tableShown = false
  const input = request.from === '-' ? await spoolInput(process.stdin) : null
  try {
    const report = await initSheet(request.directory, sourceOf(request, input?.path ?? null), {
      actor: request.actor,
      signal: stop.signal,
      onProgress: progress.show,
      confirm: (preview) => {
        progress.end()
        const how = showGuesses(out, preview, question)
        if (how === 'table') tableShown = true
        return how === 'nothing' ? Promise.resolve(true) : question.isRight()
      },
    })
    progress.end()
    await out.print(toInitWire(request.directory, report), (screen) => {
      const before = tableShown ? [] : previewLines(report, screen)
      return [...before, ...shown(report, request, screen)].join('\n')
    })
    return EXIT.done
  } catch (error) {
    progress.end()
    if (error instanceof InitDeclined) {
      out.note('Nothing was created.')
      return question.interrupted ? EXIT.interrupted : EXIT.error
    }
    if (!interrupts.seen || !stop.signal.aborted || error !== stop.signal.reason) throw error
    out.note('Interrupted; nothing was created.')
    return EXIT.interrupted
  } finally {
    interrupts.release()
    await input?.remove()
  }
}

function checkUsage(request: InitRequest): void {
  const { from, inputFormat, key, contract, schema } = request
  if (from === '-' && inputFormat === null) {
    throw new UsageError('the format of standard input is unknown; give it with --input-format')
  }
  if (from === null && inputFormat !== null) throw new UsageError('--input-format requires --from')
  if (schema !== null && contract === null) throw new UsageError('--schema requires --contract')
  if (key === false && (from === null || contract !== null)) {
    throw new UsageError('--no-key requires --from without --contract')
  }
  if (key !== null && from === null && contract === null)
    throw new UsageError('--key requires --from or --contract')
  const kind = from === null ? null : kindOf(from, inputFormat)
  if (request.types.size > 0 && (kind === null || kind === 'archive' || contract !== null)) {
    throw new UsageError('--type requires --from without --contract')
  }
  if (kind === null || kind === 'archive') checkNothingToRead(request.read)
  if (kind !== 'archive') return
  const other =
    key === null ? (contract === null ? null : '--contract') : key === false ? '--no-key' : '--key'
  if (other !== null)
    throw new UsageError(`${other} does not apply to an archive, which contains a whole sheet`)
}

/** Throws UsageError for options about reading a file of records when there is none. */
function checkNothingToRead(read: ReadFileOptions): void {
  const names = Object.entries(read).flatMap(([name, value]) => {
    if (value === null || (Array.isArray(value) && value.length === 0)) return []
    return [name === 'nulls' ? '--null' : name === 'recordsAt' ? '--records-at' : `--${name}`]
  })
  if (names.length > 0) throw new UsageError(`${names.join(', ')} requires a file of records`)
}

function kindOf(from: string, inputFormat: InputKind | null): InputKind {
  const kind = inputFormat ?? inputKind(from)
  if (kind === null) {
    throw new UsageError(
      `the format of ${visibleText(from)} cannot be told from its name; give it with --input-format: csv, json, ndjson, parquet, xlsx or archive`,
    )
  }
  return kind
}

function sourceOf(
  { from, inputFormat, key, contract, schema, maxBytes, read, types }: InitRequest,
  spooled: string | null,
): InitSource {
  const found = from === null ? null : dataOf(from, kindOf(from, inputFormat), spooled)
  if (found?.kind === 'archive') return { kind: 'archive', file: found.file, maxBytes }
  const data = found === null ? null : { ...found, read }
  if (contract !== null) {
    const file = { path: contract, name: basename(contract) }
    return { kind: 'contract', contract: file, schema, key: key === false ? null : key, data }
  }
  return data === null ? { kind: 'nothing' } : { kind: 'records', data, key, types }
}

type Data =
  | { readonly kind: 'archive'; readonly file: { readonly path: string; readonly name: string } }
  | {
      readonly kind: 'records'
      readonly file: { readonly path: string; readonly name: string }
      readonly format: Exclude<InputKind, 'archive'>
    }

function dataOf(from: string, kind: InputKind, spooled: string | null): Data {
  const file =
    spooled === null ? { path: from, name: basename(from) } : { path: spooled, name: 'standard input' }
  return kind === 'archive' ? { kind, file } : { kind: 'records', file, format: kind }
}

type Field = NonNullable<InitReport['fields']>[number]

const COLUMNS: readonly Column<Field>[] = [
  { header: 'FIELD', value: ({ field }) => field },
  { header: 'FROM', value: ({ column, field }) => (column === field ? null : (column ?? '(generated)')) },
  { header: 'TYPE', value: ({ type }) => type },
  { header: 'RULES', value: rulesOf },
  { header: 'CHECK', value: ({ doubts }) => doubts.join('; ') || null, style: () => 'yellow' },
]

function rulesOf({ field, required, unique, validValues }: Field): string | null {
  const rules = [
    field === 'id' ? 'key' : required ? 'required' : '',
    unique && field !== 'id' ? 'unique' : '',
    validValues === null ? '' : `one of ${validValues.length}`,
  ]
  return rules.filter((rule) => rule !== '').join(', ') || null
}

/** Shows guesses on standard error: in a table for people, else one per line. */
function showGuesses(
  out: Output,
  preview: InitPreview,
  { asks }: GuessQuestion,
): 'nothing' | 'table' | 'lines' {
  const { fields, notes } = preview
  const doubts = (fields ?? []).flatMap(({ field, doubts: each }) =>
    each.map((doubt) => `${field}: ${doubt}`),
  )
  if (notes.length === 0 && doubts.length === 0) return 'nothing'
  if (asks || (out.isTerminal && out.format === 'table')) {
    out.note(previewLines(preview, plainScreen(screenOf(process.stderr).columns)).join('\n'))
    return 'table'
  }
  for (const guess of [...notes, ...doubts]) out.note(guessText(guess))
  return 'lines'
}

function previewLines({ fields, notes }: InitPreview, screen: Screen): string[] {
  const table = fields === null ? [] : [tableOf(COLUMNS, fields, screen), '']
  return [...table, ...notes.map((note) => visibleText(note))]
}

function shown({ records }: InitReport, request: InitRequest, screen: Screen): string[] {
  const { directory } = request
  const name = visibleText(directory)
  const many = records === 1 ? '1 record' : `${grouped(records)} records`
  return [`${screen.paint('green', '✔')} ${name} is a sheet, with ${many}.`, ...nextSteps(name, request)]
}

function nextSteps(name: string, { from, contract }: InitRequest): string[] {
  const edit =
    from === null && contract === null
      ? [`  Edit ${name}/contract.yaml, which defines the fields of a record.`]
      : [`  Check ${name}/contract.yaml: it applies to every write from now on.`]
  return [...edit, `  colophon serve ${name}    serves it, with a viewer in the browser`]
}

/** Shows progress in one line at a terminal; nothing elsewhere. */
function progressTo(stream: NodeJS.WriteStream): {
  show(step: string, done: number): void
  end(): void
} {
  if (!isTerminal(stream)) return { show: () => undefined, end: () => undefined }
  let last = ''
  return {
    show: (step, done) => {
      const text = step === 'opening' ? 'importing …' : `${step} … ${Math.floor(done * 100)} %`
      if (text === last) return
      last = text
      stream.write(`\r\u001b[K${screenOf(stream).paint('dim', text)}`)
    },
    end: () => {
      if (last !== '') stream.write('\r\u001b[K')
      last = ''
    },
  }
}
