import type { ContractChangeAnswer } from '../../../wire/definition/contract-changes.ts'
import { readersMessages } from '../../../wire/definition/readers-message.ts'
import { cellsText, grouped } from '../../terminal/progress-line.ts'
import { tableOf, type Column } from '../../terminal/table.ts'
import type { Screen } from '../../terminal/terminal.ts'
import { visibleText } from '../../terminal/visible-text.ts'
import { recomputingLines } from './change-text.ts'

type Change = ContractChangeAnswer['changes'][number]
type Field = ContractChangeAnswer['fields'][number]
type Target = ContractChangeAnswer['targets'][number]
type Edit = ContractChangeAnswer['edits'][number]

/** The most lines, and the most values of a field, that are shown; the rest is counted. */
const MAX_EDITS = 40
const MAX_MISFITS = 5

/** Returns the effect of a change of fields, or of a dry run, in sentences for a terminal, with the edited lines. */
export function fieldText(answer: ContractChangeAnswer, screen: Screen): string {
  const { files, changes, fields, targets, edits, unedited, conflicts } = answer
  if (files.length === 0) return 'Nothing to change: the contract says this already.'
  const sentences = [
    ...changes.map(changeSentence),
    ...fields.flatMap(valuesSentence),
    ...targets.map(cellsSentence),
    ...readersMessages(answer, (field) => field),
  ]
  const parts = [
    headOf(answer),
    ...sentences.map((sentence) => `  ${visibleText(sentence)}`),
    ...fields.flatMap((field) => misfitLines(field, screen)),
    ...recomputingLines(answer),
    '',
    ...editLines(edits.slice(0, MAX_EDITS), screen),
    ...(edits.length > MAX_EDITS ? [`and ${grouped(edits.length - MAX_EDITS)} more lines`] : []),
    ...unedited.map((script) => visibleText(script)),
    ...conflicts.map((conflict) => `\n${screen.paint('red', 'refused')}: ${visibleText(conflict)}`),
  ]
  return parts.join('\n')
}

function headOf({ dry_run: isPlan, change, conflicts }: ContractChangeAnswer): string {
  if (conflicts.length > 0) return 'This change would be refused:'
  return isPlan ? 'This change would be made:' : `Change ${change} was made:`
}

function changeSentence({ change, field, from, to, tightened }: Change): string {
  switch (change) {
    case 'add':
      return `field ${field} is added`
    case 'remove':
      return `field ${field} is removed`
    case 'rename':
      return `field ${from} is renamed to ${field}`
    case 'retype':
      return `the type of ${field} changes from ${from} to ${to}`
    case 'constraint':
      return `${field} allows ${tightened === true ? 'fewer' : 'more'} values`
    case 'permission':
      return `other actors may write ${field ?? 'the fields'}`
    default:
      return `the description or other keys of ${field ?? 'the contract'} change`
  }
}

function valuesSentence({ change, field, kept, converted, lost }: Field): readonly string[] {
  const parts = [
    ...(kept > 0 ? [`${valuesText(kept)} kept`] : []),
    ...(converted > 0 ? [`${valuesText(converted)} converted`] : []),
    ...(lost > 0
      ? [`${valuesText(lost)} lost${change === 'removed' ? ' from the sheet, kept in the log' : ''}`]
      : []),
  ]
  return parts.length === 0 ? [] : [`${field}: ${parts.join(', ')}`]
}

function valuesText(count: number): string {
  return `${grouped(count)} ${count === 1 ? 'value' : 'values'}`
}

function cellsSentence({ field, file, before, after }: Target): string {
  const states = (['stale', 'missing'] as const).flatMap((state) => {
    const more = (after?.[state] ?? 0) - (before?.[state] ?? 0)
    return more > 0 ? [`${cellsText(more)} more ${state}`] : []
  })
  return `${field} (${file}): ${states.length === 0 ? 'no cell becomes stale' : states.join(', ')}`
}

function misfitLines({ field, misfits }: Field, screen: Screen): readonly string[] {
  if (misfits.length === 0) return []
  const shown = misfits.slice(0, MAX_MISFITS)
  const more = misfits.length - shown.length
  return [
    '',
    `Values of ${field} that do not fit${more > 0 ? `, the first ${MAX_MISFITS}` : ''}:`,
    tableOf(MISFIT_COLUMNS, shown, screen),
  ]
}

const MISFIT_COLUMNS: readonly Column<Field['misfits'][number]>[] = [
  { header: 'record', value: ({ record_id: id }) => id },
  { header: 'value', value: ({ value }) => value },
  { header: 'error', value: ({ error }) => error },
]

/** Returns edited lines of files, removed and added ones, for a terminal. */
export function editLines(edits: readonly Edit[], screen: Screen): readonly string[] {
  return neighbours(edits).flatMap((group) => [
    ...group.slice(0, 1).map(({ file, line }) => screen.paint('dim', visibleText(`${file}:${line}`))),
    ...group.flatMap(({ before }) => signed('-', before, (text) => screen.paint('red', text))),
    ...group.flatMap(({ after }) => signed('+', after, (text) => screen.paint('green', text))),
  ])
}

function signed(sign: string, line: string | null, paint: (text: string) => string): readonly string[] {
  return line === null ? [] : [paint(`${sign} ${visibleText(line)}`)]
}

/** Groups lines that follow each other in a file. */
function neighbours(edits: readonly Edit[]): readonly (readonly Edit[])[] {
  const groups: Edit[][] = []
  for (const edit of edits) {
    const last = groups.at(-1)?.at(-1)
    if (last?.file === edit.file && last.line + 1 === edit.line) groups.at(-1)?.push(edit)
    else groups.push([edit])
  }
  return groups
}
