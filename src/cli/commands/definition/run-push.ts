import {
  pushSheet,
  type Changes,
  type PushOptions,
  type PushReport,
} from '../../../sheet/lifecycle/push-sheet.ts'
import { toPushWire } from '../../../wire/definition/push.ts'
import type { Output } from '../../terminal/output.ts'
import { grouped } from '../../terminal/progress-line.ts'
import { tableOf, type Column } from '../../terminal/table.ts'
import type { Screen } from '../../terminal/terminal.ts'
import { visibleText } from '../../terminal/visible-text.ts'
import { writerOf } from '../../options/required-actor.ts'

/** The arguments of `push`. */
export interface PushRequest extends Omit<PushOptions, 'actor'> {
  readonly directory: string
  /** The URL of the store. */
  readonly store: string
  readonly actor: string | null
}

/** Pushes a sheet and prints the result. Throws UsageError without an actor, and as {@link pushSheet} does. */
export async function runPush(
  out: Output,
  { directory, store, actor, ...options }: PushRequest,
): Promise<void> {
  // A dry run needs no actor.
  const pusher = options.dryRun ? (actor ?? 'nobody') : writerOf({ defaultActor: actor })
  const report = await pushSheet(directory, store, { ...options, actor: pusher })
  await out.print(toPushWire(report), (screen) => shown(report, screen))
}

type Target = PushReport['derivations'][number]

const COLUMNS: readonly Column<Target>[] = [
  { header: 'DERIVED FIELD', value: ({ field }) => field },
  { header: 'FILE', value: ({ derivation }) => derivation },
  { header: 'CHANGE', value: ({ change }) => change },
  { header: 'STALE', value: ({ stale }) => signed(stale) },
  { header: 'MISSING', value: ({ missing }) => signed(missing) },
]

function signed(count: number): string {
  return count > 0 ? `+${grouped(count)}` : count < 0 ? `−${grouped(-count)}` : '0'
}

function shown(report: PushReport, screen: Screen): string {
  const { files, fields, derivations, created } = report
  const lines = [...changeLines('file', files), ...(created ? [] : changeLines('property', fields))]
  const table = derivations.length === 0 ? [] : [tableOf(COLUMNS, derivations, screen)]
  return [...lines, ...table, lastLine(report, screen)].join('\n')
}

function changeLines(what: string, { added, changed, removed }: Changes): string[] {
  const line = (how: string, names: readonly string[]): string[] =>
    names.map((name) => `${how} ${what} ${visibleText(name)}`)
  return [...line('new', added), ...line('changed', changed), ...line('removed', removed)]
}

function lastLine({ sheet, revision, before, created, records, dryRun }: PushReport, screen: Screen): string {
  const name = visibleText(sheet)
  if (revision === before) return `${name} is revision ${revision} in the store already; nothing changed.`
  const many = records === 1 ? '1 record' : `${grouped(records)} records`
  const what = created
    ? `${name} is in the store, with ${many}`
    : `${name} is revision ${revision} in the store`
  if (!dryRun) return `${screen.paint('green', '✔')} ${what}.`
  return created
    ? `Nothing was done. ${name} would be put into the store, with ${many}.`
    : `Nothing was done. ${name} would be revision ${revision}, and ${many} of the store stay as they are.`
}
