import { FAILED } from './stored-rows.ts'
import { needsOf, type StoredTarget, type StoredTargets } from './stored-targets.ts'

/**
 * Selects the cells that a run cannot compute because of an input (D32): the rule of `errors/block.ts` in SQL, for all
 * records.
 */

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
    UPDATE "$target" SET blocked = (SELECT count(*) FROM "$todo" WHERE target = ${id} AND blocked) WHERE id = ${id}`
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
