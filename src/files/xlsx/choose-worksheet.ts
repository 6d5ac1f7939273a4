import { showNames, showValue } from '../../contract/json/show-value.ts'
import { ValidationError } from '../../errors/service-error.ts'
import { countAbove, type SampleRow } from '../columns/table-head.ts'
import type { Worksheet } from './read-workbook.ts'

/** The most worksheets that are examined. */
const MAX_LOOKS = 20

/** Names of worksheets that describe the others. */
const ABOUT =
  /^(?:read[ _-]?me|about|notes?|info(?:rmation)?|cover|(?:table of )?contents?|index|toc|legend|key|instructions?|metadata|documentation|glossary|(?:data )?dictionary|changelog|sources?)$/i

/** The chosen worksheet. */
export interface ChosenWorksheet {
  readonly worksheet: Worksheet
  /** Its first rows. */
  readonly sample: readonly SampleRow[]
  /** The guess, if several visible worksheets have contents; null otherwise. */
  readonly guess: string | null
}

/**
 * Chooses the worksheet with the records: the requested one, else the first visible one with a table, with those
 * whose name describes the others last. Throws ValidationError for a workbook without worksheets, and without the
 * requested one.
 */
export async function chooseWorksheet(
  worksheets: readonly Worksheet[],
  asked: string | null,
  {
    name,
    sampleOf,
  }: { readonly name: string; sampleOf(worksheet: Worksheet): Promise<readonly SampleRow[]> },
): Promise<ChosenWorksheet> {
  if (asked !== null) {
    const worksheet = worksheets.find((each) => each.name === asked)
    if (worksheet !== undefined) return { worksheet, sample: await sampleOf(worksheet), guess: null }
    throw new ValidationError(
      `${name} has no worksheet ${showValue(asked)}; it has ${showNames(worksheets.map((each) => each.name))}`,
      'unreadable_file',
    )
  }
  const visible = worksheets.filter((each) => each.visible)
  const looked: { readonly worksheet: Worksheet; readonly sample: readonly SampleRow[] }[] = []
  for (const worksheet of (visible.length > 0 ? visible : worksheets).slice(0, MAX_LOOKS)) {
    looked.push({ worksheet, sample: await sampleOf(worksheet) })
  }
  const filled = looked.filter(({ sample }) => sample.length > 0)
  const tables = filled.filter(({ sample }) => isTable(sample))
  const chosen =
    tables.find(({ worksheet }) => !ABOUT.test(worksheet.name.trim())) ?? tables[0] ?? filled[0] ?? looked[0]
  if (chosen === undefined)
    throw new ValidationError(`${name} has no worksheet that could be read`, 'unreadable_file')
  const names = filled.map(({ worksheet }) => worksheet.name)
  const guess =
    names.length < 2
      ? null
      : `read the worksheet ${showValue(chosen.worksheet.name)}; there are ${showNames(names)}`
  return { ...chosen, guess }
}

/** Whether several consecutive rows have several values. */
function isTable(sample: readonly SampleRow[]): boolean {
  const width = Math.max(...sample.map(({ cells }) => cells.length))
  const rows = sample.slice(countAbove(sample, width))
  const filled = rows.filter(({ cells }) => cells.filter((cell) => cell !== undefined).length > 1)
  return filled.length > 1 && filled.length * 2 > rows.length
}
