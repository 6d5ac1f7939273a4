import type { Difference, Verification, VerifyOptions } from '../../../sheet/verify/verify-sheet.ts'
import { verifySheet } from '../../../sheet/verify/verify-sheet.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import type { Output } from '../../terminal/output.ts'
import type { Screen } from '../../terminal/terminal.ts'
import { visibleText } from '../../terminal/visible-text.ts'

/** Verifies a sheet and prints what holds, what differs, and what is not covered. Throws as {@link verifySheet} does. */
export async function runVerify(out: Output, sheet: string, options: VerifyOptions): Promise<ExitCode> {
  const verification = await verifySheet(sheet, options)
  await out.print(answerOf(verification), (screen) => textOf(verification, screen))
  return verification.differences.count === 0 ? EXIT.done : EXIT.error
}

/** The number of lines from the beginning that somebody who cannot change the sheet vouches for. */
function coveredLines({ checkpoints: { covered } }: Verification): number {
  return Math.max(covered.outside, covered.signed ?? 0)
}

function answerOf(verification: Verification): unknown {
  const { differences, records, checkpoints, unknownImport, lines } = verification
  const { imported, converted } = records
  return {
    holds: differences.count === 0,
    lines,
    last_seq: verification.lastSeq,
    earlier_lines: verification.earlierLines,
    records: records.records,
    differences: {
      count: differences.count,
      listed: differences.listed.map(({ kind, seq, recordId, field, message }) => ({
        kind,
        seq,
        record_id: recordId,
        field,
        message,
      })),
    },
    checkpoints,
    not_covered: {
      lines: lines - coveredLines(verification),
      converted_cells: converted,
      erased_lines: verification.erasedLines,
      imported:
        unknownImport === null
          ? null
          : { ...imported, file: unknownImport.file, sha256: unknownImport.sha256 },
    },
  }
}

function textOf(verification: Verification, screen: Screen): string {
  return [
    ...differenceLines(verification, screen),
    ...checkpointLines(verification),
    ...uncoveredLines(verification, screen),
  ].join('\n')
}

function differenceLines({ differences, lines, records }: Verification, screen: Screen): string[] {
  const { count, listed } = differences
  if (count === 0) {
    const what = `${counted(lines, 'line')} of the log, and ${counted(records.records, 'record')}: no difference`
    return [`${screen.paint('green', '✔')} ${what}`]
  }
  const rest = count - listed.length
  return [
    `${screen.paint('red', '✘')} ${counted(count, 'difference')}`,
    ...listed.map((difference) => `  ${visibleText(differenceText(difference))}`),
    ...(rest > 0 ? [`  and ${rest.toLocaleString('en')} more`] : []),
  ]
}

function differenceText({ kind, seq, recordId, field, message }: Difference): string {
  const place = [
    ...(kind === 'line' && seq !== null ? [`line ${seq}`] : []),
    ...(recordId === null ? [] : [`record ${JSON.stringify(recordId)}`]),
    ...(field === null ? [] : [`field ${JSON.stringify(field)}`]),
  ].join(', ')
  return place === '' ? message : `${place}: ${message}`
}

function checkpointLines(verification: Verification): string[] {
  const { own, outside, covered, unsigned } = verification.checkpoints
  const lines: string[] = []
  if (covered.outside > 0)
    lines.push(`covered by a checkpoint that you gave: the first ${counted(covered.outside, 'line')}`)
  if (covered.signed !== null && covered.signed > 0)
    lines.push(
      `covered by a checkpoint with a signature of the key: the first ${counted(covered.signed, 'line')}`,
    )
  if (covered.own > coveredLines(verification)) {
    lines.push(
      `covered by a checkpoint of the sheet itself: the first ${counted(covered.own, 'line')}; whoever can change the sheet can have changed it too`,
    )
  }
  if (unsigned.length > 0) {
    const sizes = unsigned.slice(0, 10).join(', ')
    const more = unsigned.length > 10 ? ` and ${unsigned.length - 10} more` : ''
    lines.push(`not signed by the key: checkpoints of ${sizes} lines${more}`)
  }
  if (own + outside > 0 && covered.signed === null)
    lines.push('not checked: signatures; give the key with --key')
  return lines
}

function uncoveredLines(verification: Verification, screen: Screen): string[] {
  const { lines, records, earlierLines, unknownImport, erasedLines } = verification
  const covered = coveredLines(verification)
  const mark = screen.paint('yellow', 'not covered:')
  const which =
    covered === 0
      ? `all ${counted(lines, 'line')}, which can have been changed together with the records`
      : lines === covered
        ? 'lines that were cut off after these'
        : `the last ${counted(lines - covered, 'line')}, and lines that were cut off after them`
  const found = [`${mark} ${which}`]
  if (unknownImport !== null) {
    const { imported } = records
    found.push(
      `${mark} ${counted(imported.cells, 'value')} of ${counted(imported.records, 'record')} that no line has changed since the import; give the imported ${visibleText(unknownImport.file)} with --source (SHA-256 ${visibleText(unknownImport.sha256)})`,
    )
  }
  if (records.converted > 0)
    found.push(
      `${mark} ${counted(records.converted, 'value')} that a conversion of the field left, of which the log allows several`,
    )
  if (erasedLines > 0)
    found.push(
      `${screen.paint('yellow', 'erased:')} values of ${counted(erasedLines, 'line')}, as later lines say; the tree has the hashes of these lines, and what is left of them is not covered`,
    )
  if (earlierLines > 0)
    found.push(`${mark} what ${counted(earlierLines, 'line')} of an imported log say of earlier records`)
  return found
}

function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}
