import { explainCell } from '../../../sheet/cells/explain-cell.ts'
import { readStatus, type TargetStatusReport } from '../../../sheet/cells/read-status.ts'
import { toCellExplanationAnswer, toStatusAnswer } from '../../../wire/runs/status.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { membersOf } from '../../terminal/object-lines.ts'
import { tableOf, toSeconds, type Column } from '../../terminal/table.ts'
import type { Screen, Style } from '../../terminal/terminal.ts'
import { UsageError } from '../../options/usage-error.ts'

/** Prints the states of derived fields. Throws as {@link readStatus} does. */
export async function printStatus(
  { sheet, out }: CommandContext,
  targets: readonly string[] | null,
): Promise<void> {
  const status = await readStatus(sheet, targets)
  for (const warning of sheet.warnings()) out.note(`warning: ${warning}`)
  await out.print(toStatusAnswer(status), (screen) => statusText(status, screen))
}

/** Prints the state of one cell, with the reasons. Throws as {@link explainCell} does, and UsageError. */
export async function printCellStatus(
  { sheet, out }: CommandContext,
  { id, field }: { readonly id: string; readonly field: string | undefined },
): Promise<void> {
  if (field === undefined)
    throw new UsageError('no derived field is given; give <id> and <field> for one cell')
  const answer = toCellExplanationAnswer(await explainCell(sheet, field, id))
  await out.print(answer, (screen) => membersOf(answer, screen))
}

interface Line extends TargetStatusReport {
  readonly target: string
}

function statusText(status: Readonly<Record<string, TargetStatusReport>>, screen: Screen): string {
  const lines = Object.entries(status).map(([target, report]) => ({ target, ...report }))
  if (lines.length === 0) return screen.paint('dim', 'This sheet has no derivations.')
  const areBlocked = lines.some(({ blocked }) => blocked > 0)
  // Saves the width of a column of zeros.
  const columns = COLUMNS.filter(({ header }) => header !== 'blocked' || areBlocked)
  return tableOf(columns, lines, screen)
}

const COLUMNS: readonly Column<Line>[] = [
  { header: 'target', value: ({ target }) => target },
  { header: 'derivation', value: ({ derivation }) => derivation },
  count('fresh', 'green'),
  count('stale', 'yellow'),
  count('missing', 'cyan'),
  count('failed', 'red'),
  count('overridden', 'bold'),
  count('blocked', 'yellow'),
  { header: 'last', value: ({ lastAt }) => toSeconds(lastAt) },
  { header: 'last error', value: ({ lastError }) => lastError },
]

type Counted = 'fresh' | 'stale' | 'missing' | 'failed' | 'overridden' | 'blocked'

/** Returns a column of counts, in which zeros are dimmed. */
function count(state: Counted, style: Style): Column<Line> {
  return { header: state, value: (line) => line[state], style: (line) => (line[state] > 0 ? style : 'dim') }
}
