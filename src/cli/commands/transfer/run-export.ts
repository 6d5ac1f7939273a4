import { exportLineage } from '../../../sheet/lineage/export-lineage.ts'
import { isLineageFormat, LINEAGE_FACTS } from '../../../sheet/lineage/lineage-formats.ts'
import { exportArchive } from '../../../sheet/transfer/export-archive.ts'
import { exportDatapackage, writeDatapackage } from '../../../sheet/transfer/export-datapackage.ts'
import {
  delimiterOf,
  exportRecords,
  formatOf,
  type ExportQuery,
} from '../../../sheet/transfer/export-records.ts'
import { writeWholeFile } from '../../../sheet/transfer/write-whole-file.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import type { ExportFormat } from './export-command.ts'
import { bytesText, showFileProgress } from './file-progress.ts'
import { grouped } from '../../terminal/progress-line.ts'
import type { WrittenRecording } from '../../../sheet/recording/write-recording.ts'
import { onInterrupt } from '../../terminal/interrupts.ts'
import { usualProgress, type ProgressStyle } from '../../terminal/progress.ts'
import { plainScreen } from '../../terminal/terminal.ts'
import { differenceLine } from '../../terminal/difference-line.ts'
import { UsageError } from '../../options/usage-error.ts'
import { visibleBytes } from '../../terminal/visible-text.ts'

export interface WhatToExport extends Omit<ExportQuery, 'format'> {
  /** The file; null is standard output. */
  readonly file: string | null
  /** The format; null detects it from the name of the file. */
  readonly format: ExportFormat | null
  /** Whether an archive has the recording. */
  readonly withRecording: boolean
  /** The namespace of openlineage; null for the usual one. */
  readonly namespace: string | null
  /** The style of progress; null is a bar at a terminal. */
  readonly progress: ProgressStyle | null
  /** The directory of the sheet; null for one in PostgreSQL. */
  readonly directory: string | null
}

/** Formats that a terminal cannot show. */
const BINARY = new Set<ExportFormat>(['parquet', 'xlsx', 'datapackage', 'archive', 'folio'])

/**
 * Exports to a file, which is replaced once it is complete, or to standard output. Throws as `exportRecords` does, and
 * UsageError.
 */
export async function runExport(context: CommandContext, what: WhatToExport): Promise<ExitCode> {
  const format = what.format ?? (what.file === null ? 'ndjson' : formatOf(what.file))
  if (format === null) {
    const known = what.file?.toLowerCase().endsWith('.zip') === true ? ', archive or datapackage' : ''
    throw new UsageError(
      `the format of ${what.file} cannot be told from its name${known}; give it with --format`,
    )
  }
  if (what.file === null && context.out.isTerminal && BINARY.has(format)) {
    throw new UsageError(`${format} cannot be shown at a terminal; name a file, or redirect standard output`)
  }
  checkWhole(format, what)
  if (what.withRecording && format !== 'archive')
    throw new UsageError(`--with-recording applies to archive, and the format is ${format}`)
  if (format === 'folio') return exportFolio(context, what)
  if (format === 'datapackage' && what.file !== null && !what.file.toLowerCase().endsWith('.zip')) {
    await writeDatapackage(context.sheet, what.file)
    return EXIT.done
  }
  return writeBytes(context, await bytesOf(context, format, what), what)
}

/** The contents of the formats of which no part can be selected. */
const WHOLES: Readonly<Partial<Record<ExportFormat, string>>> = {
  archive: 'the whole sheet',
  datapackage: 'the whole sheet',
  folio: 'the whole sheet',
  openlineage: LINEAGE_FACTS.openlineage.contents,
  'prov-json': LINEAGE_FACTS['prov-json'].contents,
}

/** Throws UsageError for options that select a part of the sheet, when the whole is exported. */
function checkWhole(format: ExportFormat, what: WhatToExport): void {
  if (what.namespace !== null && format !== 'openlineage')
    throw new UsageError(`--namespace applies to openlineage, and the format is ${format}`)
  const whole = WHOLES[format]
  if (whole === undefined) return
  const { fields, filter, where = null, sort, raw, delimiter = null } = what
  const isWhole = fields === null && filter === null && where === null && sort === null
  if (isWhole && !raw && delimiter === null) return
  throw new UsageError(
    `--fields, --filter, --where, --state, --by, --by-run, --sort, --raw and --delimiter do not apply to ${format}, which has ${whole}`,
  )
}

/** Writes a folio sheet into a directory, and reports every difference on standard error. */
async function exportFolio({ sheet, out }: CommandContext, what: WhatToExport): Promise<ExitCode> {
  if (what.file === null) throw new UsageError('folio is a directory; name the one to write')
  const { exportFolioSheet } = await import('../../../sheet/folio/export-folio-sheet.ts')
  const stop = new AbortController()
  const interrupts = onInterrupt(() => stop.abort())
  try {
    const { differences } = await exportFolioSheet(sheet, what.file, what.directory, stop.signal)
    const screen = plainScreen()
    for (const difference of differences) out.note(differenceLine(difference, screen))
    return EXIT.done
  } catch (error) {
    if (!interrupts.seen || error !== stop.signal.reason) throw error
    return EXIT.interrupted
  } finally {
    interrupts.release()
  }
}

interface ExportBytes {
  readonly bytes: AsyncIterable<Uint8Array>
  share(): number | null
}

async function bytesOf(
  { sheet, out }: CommandContext,
  format: Exclude<ExportFormat, 'folio'>,
  what: WhatToExport,
): Promise<ExportBytes> {
  if (format === 'archive') {
    const onWritten = (written: WrittenRecording): void => {
      if (written.uncovered > 0) out.note(uncoveredText(written))
    }
    const recording = what.withRecording ? { onWritten } : null
    return { bytes: exportArchive(sheet, { recording }), share: () => null }
  }
  if (format === 'datapackage') return { bytes: exportDatapackage(sheet), share: () => null }
  if (isLineageFormat(format)) return exportLineage(sheet, { format, namespace: what.namespace })
  const { file, fields, filter, where = null, sort, raw } = what
  const named = format === 'csv' && file !== null ? delimiterOf(file) : null
  const delimiter = what.delimiter ?? named
  return exportRecords(sheet, { format, fields, filter, where, sort, raw, delimiter })
}

/** Returns a note on the cells that a recording does not cover. */
function uncoveredText({ calls, uncovered, firstUncovered }: WrittenRecording): string {
  const listed = firstUncovered.map(({ recordId, field }) => `${field} of ${recordId}`).join(', ')
  const more = uncovered > firstUncovered.length ? ', …; recording.jsonl lists all of them' : ''
  const cells = uncovered === 1 ? '1 cell' : `${grouped(uncovered)} cells`
  return (
    `The recording has ${grouped(calls)} ${calls === 1 ? 'call' : 'calls'}, and none for ${cells}, which cannot be replayed: ` +
    `${listed}${more}. Not in it are calls of earlier versions and those before a push or pull, responses that repeat a secret, and the oldest calls beyond the limit of "colophon cache".`
  )
}

async function writeBytes(
  { out }: CommandContext,
  whole: ExportBytes,
  what: WhatToExport,
): Promise<ExitCode> {
  let done = 0
  let stopped = false
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of whole.bytes) {
      if (stopped) throw new Stopped()
      done += chunk.length
      yield chunk
    }
  }
  const interrupts = onInterrupt(() => {
    stopped = true
  })
  const style = what.progress ?? (what.file === null && out.isTerminal ? 'none' : usualProgress())
  const hide = showFileProgress(style, () => ({
    what: 'written',
    done,
    amount: bytesText,
    share: whole.share(),
  }))
  try {
    if (what.file === null) {
      for await (const chunk of out.isTerminal ? visibleBytes(counted()) : counted()) await out.write(chunk)
    } else await writeWholeFile(what.file, counted())
    return EXIT.done
  } catch (error) {
    if (error instanceof Stopped) return EXIT.interrupted
    throw error
  } finally {
    hide()
    interrupts.release()
  }
}

/** The export was interrupted with Ctrl-C. */
class Stopped extends Error {}
