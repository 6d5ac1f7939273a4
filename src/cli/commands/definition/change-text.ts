import type { DefinitionChangeAnswer } from '../../../wire/definition/change.ts'
import { recomputingMessage } from '../../../wire/definition/recomputing-message.ts'
import { callsText, cellsText, dollars, grouped } from '../../terminal/progress-line.ts'
import { tableOf, type Column } from '../../terminal/table.ts'
import type { Screen } from '../../terminal/terminal.ts'
import { visibleText } from '../../terminal/visible-text.ts'

type Target = DefinitionChangeAnswer['targets'][number]
type Field = DefinitionChangeAnswer['fields'][number]

/** Returns the effect of a change of the definition, or of a dry run, for a terminal. */
export function changeText(answer: DefinitionChangeAnswer, screen: Screen): string {
  const { files, fields, targets, conflicts } = answer
  if (files.length === 0) return 'Nothing to change: the files have these texts already.'
  const parts = [
    headOf(answer),
    ...files.map(({ path, before, after }) => `  ${verbOf(before, after)} ${path}`),
    ...(fields.length === 0 ? [] : ['', tableOf(FIELD_COLUMNS, fields, screen)]),
    ...(targets.length === 0 ? [] : ['', tableOf(TARGET_COLUMNS, targets, screen)]),
    ...recomputingLines(answer),
    ...conflicts.map((conflict) => `\n${screen.paint('red', 'refused')}: ${visibleText(conflict)}`),
  ]
  return parts.join('\n')
}

/** Returns what it takes to compute the cells that become stale or missing; empty where there are none. */
export function recomputingLines({ recomputing }: DefinitionChangeAnswer): readonly string[] {
  const message = recomputingMessage(recomputing, { money: dollars, calls: callsText })
  return message === '' ? [] : ['', visibleText(message)]
}

function headOf({ dry_run: isPlan, change, conflicts, targets }: DefinitionChangeAnswer): string {
  if (conflicts.length > 0) return 'This change would be refused:'
  const due = targets.reduce((sum, { before, after }) => sum + pendingIn(after) - pendingIn(before), 0)
  const cells = due > 0 ? `; ${cellsText(due)} more to compute` : ''
  return isPlan ? `This change would be made${cells}:` : `Change ${change} was made${cells}:`
}

function pendingIn(counts: Target['after']): number {
  return counts === null ? 0 : counts.stale + counts.missing
}

function verbOf(before: string | null, after: string | null): string {
  if (before === null) return 'adds   '
  return after === null ? 'removes' : 'changes'
}

function step(of: keyof NonNullable<Target['after']>): (target: Target) => string {
  return ({ before, after }) => {
    const [was, now] = [before?.[of] ?? 0, after?.[of] ?? 0]
    return was === now ? grouped(now) : `${grouped(was)} → ${grouped(now)}`
  }
}

const TARGET_COLUMNS: readonly Column<Target>[] = [
  { header: 'target', value: ({ field }) => field },
  { header: 'file', value: ({ file }) => file },
  { header: 'change', value: ({ change }) => change },
  { header: 'fresh', value: step('fresh'), align: 'right' },
  { header: 'stale', value: step('stale'), align: 'right' },
  { header: 'missing', value: step('missing'), align: 'right' },
  { header: 'failed', value: step('failed'), align: 'right' },
  { header: 'overridden', value: step('overridden'), align: 'right' },
]

const FIELD_COLUMNS: readonly Column<Field>[] = [
  { header: 'field', value: ({ field }) => field },
  { header: 'change', value: ({ change }) => change },
  { header: 'before', value: ({ before }) => before },
  { header: 'kept', value: ({ kept }) => kept },
  { header: 'converted', value: ({ converted }) => converted },
  { header: 'lost', value: ({ lost }) => lost },
]
