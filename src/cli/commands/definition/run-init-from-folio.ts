import { adoptFolioSheet, type FolioAdoption } from '../../../sheet/folio/adopt-folio-sheet.ts'
import { toFolioAdoptionWire } from '../../../wire/definition/folio-adoption.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import { onInterrupt } from '../../terminal/interrupts.ts'
import type { Output } from '../../terminal/output.ts'
import { grouped } from '../../terminal/progress-line.ts'
import { differenceLine } from '../../terminal/difference-line.ts'
import type { Screen } from '../../terminal/terminal.ts'
import { visibleText } from '../../terminal/visible-text.ts'
import { UsageError } from '../../options/usage-error.ts'

/** The arguments of `init --from-folio`. */
export interface InitFromFolio {
  readonly directory: string
  readonly from: string
  readonly check: boolean
  readonly actor: string | null
  /** The other options of the command, most of which do not apply. */
  readonly others: object
}

/** Options that apply to every source, or always have a value, as `--max-size`, which is of archives. */
const ALLOWED: ReadonlySet<string> = new Set(['format', 'json', 'yes', 'maxSize', 'quiet'])

/** Adopts a folio sheet, or reports what would differ. Throws UsageError, and as {@link adoptFolioSheet} does. */
export async function runInitFromFolio(out: Output, request: InitFromFolio): Promise<ExitCode> {
  const { directory, from, check, actor, others } = request
  const other = Object.entries(others).find(([name, value]) => value !== undefined && !ALLOWED.has(name))
  if (other !== undefined) {
    const name = other[0].replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
    throw new UsageError(`--${name} cannot be combined with --from-folio`)
  }
  const stop = new AbortController()
  const interrupts = onInterrupt(() => stop.abort())
  try {
    const adoption = await adoptFolioSheet(directory, from, { actor, check, signal: stop.signal })
    await out.print(toFolioAdoptionWire(directory, { ...adoption, check }), (screen) =>
      shown(adoption, request, screen).join('\n'),
    )
    return EXIT.done
  } catch (error) {
    if (!interrupts.seen || error !== stop.signal.reason) throw error
    out.note('Interrupted; nothing was created.')
    return EXIT.interrupted
  } finally {
    interrupts.release()
  }
}

function shown(
  { records, cells, differences }: FolioAdoption,
  { directory, check }: InitFromFolio,
  screen: Screen,
): string[] {
  const lines = differences.map((difference) => differenceLine(difference, screen))
  const name = visibleText(directory)
  const many = records === 1 ? '1 record' : `${grouped(records)} records`
  const states = (['fresh', 'stale', 'missing', 'overridden'] as const)
    .filter((state) => cells[state] > 0)
    .map((state) => `${grouped(cells[state])} ${state}`)
  const derived = states.length === 0 ? '' : `; derived cells: ${states.join(', ')}`
  const end = check
    ? `Nothing was created: ${name} would have ${many}${derived}.`
    : `${screen.paint('green', '✔')} ${name} is a sheet, with ${many}${derived}.`
  return [...lines, ...(lines.length === 0 ? [] : ['']), end]
}
