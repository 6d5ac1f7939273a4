import { listChanges, readChange, revertChange } from '../../../sheet/definition/change/history.ts'
import {
  toChangeAnswer,
  toDefinitionChangeAnswer,
  toHistoryAnswer,
  type ChangeAnswer,
  type HistoryAnswer,
} from '../../../wire/definition/change.ts'
import type { CommandContext } from '../../options/command-context.ts'
import { writerOf } from '../../options/required-actor.ts'
import { UsageError } from '../../options/usage-error.ts'
import { EXIT, type ExitCode } from '../../terminal/exit-codes.ts'
import { membersOf } from '../../terminal/object-lines.ts'
import { Pages } from '../../terminal/pages.ts'
import { printPages } from '../../terminal/print-pages.ts'
import { toSeconds, type Column } from '../../terminal/table.ts'
import type { Screen } from '../../terminal/terminal.ts'
import { visibleLines } from '../../terminal/visible-text.ts'
import { changeText } from './change-text.ts'

export interface WhichChanges {
  /** The change; null lists them. */
  readonly id: string | null
  /** Whether to take it back. */
  readonly revert: boolean
  readonly confirm: ReadonlyMap<string, number>
  readonly note: string | null
  readonly dryRun: boolean
  /** The number of changes; infinite for all. */
  readonly limit: number
  readonly cursor: string | null
}

/** Lists the changes of the definition, shows one, or takes it back. Throws as these operations do, and UsageError. */
export async function runHistory(context: CommandContext, which: WhichChanges): Promise<ExitCode | void> {
  const { sheet, out } = context
  const { id, revert, limit, cursor } = which
  if (id === null) {
    if (revert) throw new UsageError('no change is given; `colophon history <sheet>` lists their numbers')
    const pages = new Pages<Change>(async (page) => {
      const answer = toHistoryAnswer(await listChanges(sheet, page))
      return { items: answer.changes, nextCursor: answer.next_cursor }
    }, cursor)
    return printPages(out, pages, { limit, member: 'changes', columns: COLUMNS, none: 'no changes yet' })
  }
  if (!revert) {
    const answer = toChangeAnswer(await readChange(sheet, id))
    return out.print(answer, (screen) => textOf(answer, screen))
  }
  const { confirm, note, dryRun } = which
  const report = await revertChange(sheet, { change: id, confirm, note, dryRun, actor: writerOf(sheet) })
  const answer = toDefinitionChangeAnswer(report)
  await out.print(answer, (screen) => changeText(answer, screen))
  return answer.conflicts.length > 0 ? EXIT.error : EXIT.done
}

type Change = HistoryAnswer['changes'][number]

const COLUMNS: readonly Column<Change>[] = [
  { header: 'change', value: ({ id }) => id, align: 'right' },
  { header: 'at', value: ({ at }) => toSeconds(at) },
  { header: 'by', value: ({ actor }) => actor ?? '(edit of the files)' },
  { header: 'files', value: ({ files }) => files.map(({ path }) => path).join(', ') },
  { header: 'reverts', value: ({ reverts }) => reverts },
  { header: 'note', value: ({ note }) => note },
]

function textOf({ files, effect: _, ...change }: ChangeAnswer, screen: Screen): string {
  const known = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== null))
  const texts = files.flatMap(({ path, text_before: before, text_after: after }) => [
    ...(before === null ? [] : ['', screen.paint('dim', `${path} before:`), linesOf(before)]),
    ...(after === null ? [] : ['', screen.paint('dim', `${path} after:`), linesOf(after)]),
  ])
  return [membersOf(known, screen), ...texts].join('\n')
}

function linesOf(text: string): string {
  return visibleLines(text.replace(/\n$/, ''))
}
