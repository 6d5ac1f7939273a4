import { FAILED, MISSING, STALE, type TodoState } from './stored-rows.ts'
import { needsOf, type StoredTarget, type StoredTargets } from './stored-targets.ts'

/**
 * Selects the cells that a run cannot compute because of an input (D32): the rule of `errors/block.ts` in SQL, for all
 * records.
 */

/** The counters of `$target` that count a blocked cell in a state: one for all of them, and one for each state but `missing`. */
export const BLOCKED_COUNTERS = {
  [MISSING]: ['blocked'],
  [STALE]: ['blocked', 'blocked_stale'],
  [FAILED]: ['blocked', 'blocked_failed'],
} as const satisfies Record<TodoState, readonly string[]>

export type BlockedCounter = (typeof BLOCKED_COUNTERS)[TodoState][number]

/** Adds the counters of blocked cells by state, in the SQL of both engines. */
export function blockedCounters(integer: string): string {
  return `
    ALTER TABLE "$target" ADD COLUMN blocked_stale ${integer} NOT NULL DEFAULT 0;
    ALTER TABLE "$target" ADD COLUMN blocked_failed ${integer} NOT NULL DEFAULT 0;
    UPDATE "$target" SET ${knownBlockedSql('"$target".id')} WHERE blocked > 0;
  `
}

/** Returns the assignments that count the blocked cells of a target that are stale or failed. */
function knownBlockedSql(id: string): string {
  const count = (state: TodoState): string =>
    `(SELECT count(*) FROM "$todo" AS cell WHERE cell.target = ${id} AND cell.state <> ${MISSING} AND cell.state = ${state} AND cell.blocked)`
  return `blocked_stale = ${count(STALE)}, blocked_failed = ${count(FAILED)}`
}

/** Whether a cell of a target can be blocked at all. */
export function canBeBlocked({ required, inputs }: StoredTarget, targets: StoredTargets): boolean {
  return (required ?? []).length > 0 || inputs.some((input) => targets.isDerived(input))
}

/**
 * Returns SQL of both engines for whether the cell of a target in the record `data` is blocked if it is pending, and the
 * joins to `data` that this needs. `column` returns the column of a field; null where it has none yet, and so no values.
 */
export function blockedSql(
  target: StoredTarget,
  targets: StoredTargets,
  column: (field: string) => string | null = (field) => field,
): { readonly blocked: string; readonly joins: string } {
  const { inputs, required, nonEmpty } = needsOf(target)
  const sources = inputs.flatMap((input) => {
    const source = targets.target(input)
    return source?.active === true ? [{ input, id: source.id, alias: `"$input${source.id}"` }] : []
  })
  const stopped = sources.map(({ alias }) => `${alias}.state = ${FAILED} OR ${alias}.blocked`)
  const empty = required.map((field) => {
    const source = sources.find(({ input }) => input === field)
    const name = column(field)
    const isNull = `data."${name}" IS NULL`
    const isEmpty = nonEmpty.includes(field) ? `(${isNull} OR data."${name}" = '')` : isNull
    const lacks = name === null ? 'TRUE' : isEmpty
    return source === undefined ? lacks : `(${lacks} AND ${source.alias}.state IS NULL)`
  })
  const joins = sources.map(
    ({ id, alias }) =>
      `LEFT JOIN "$todo" AS ${alias} ON ${alias}.target = ${id} AND ${alias}.record = data."$seq"`,
  )
  const conditions = [...stopped, ...empty]
  return {
    // A cell that is not pending has no row, so the condition on it is null.
    blocked: conditions.length === 0 ? 'FALSE' : `coalesce(${conditions.join(' OR ')}, FALSE)`,
    joins: joins.join(' '),
  }
}

/**
 * Returns SQL that determines which cells of a target are blocked, and counts them. Run it first for the targets that this
 * one is computed from.
 */
export function recountSql(
  target: StoredTarget,
  targets: StoredTargets,
  column?: (field: string) => string | null,
): string {
  const { id } = target
  return `${findBlockedSql(target, targets, column)};
    UPDATE "$target" SET blocked = (SELECT count(*) FROM "$todo" WHERE target = ${id} AND blocked), ${knownBlockedSql(String(id))}
    WHERE id = ${id}`
}

/** Returns SQL that determines which cells of a target are blocked, without counting them; see {@link recountSql}. */
export function findBlockedSql(
  target: StoredTarget,
  targets: StoredTargets,
  column?: Parameters<typeof blockedSql>[2],
): string {
  const { id } = target
  const { blocked, joins } = blockedSql(target, targets, column)
  return `
    UPDATE "$todo" SET blocked = looked.blocked FROM (
      SELECT todo.record, ${blocked} AS blocked
      FROM "$todo" AS todo JOIN "$data" AS data ON data."$seq" = todo.record ${joins}
      WHERE todo.target = ${id}
    ) AS looked
    WHERE "$todo".target = ${id} AND "$todo".record = looked.record AND "$todo".blocked <> looked.blocked`
}
