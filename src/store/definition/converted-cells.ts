import { FAILED, MISSING, STALE } from '../rows/stored-rows.ts'
import type { StoredTarget } from '../rows/stored-targets.ts'

/** The columns of a converted field, before and after, as they are called at the time, in quotes. */
export interface ConvertedColumns {
  readonly before: string
  readonly after: string
}

/**
 * Returns SQL of both engines for the cells of a converted field: those that lost their value are missing, and those that
 * have one again are stale.
 */
export function convertedTargetSql(
  { id }: StoredTarget,
  { before, after }: ConvertedColumns,
  seq: number,
): string {
  const records = (condition: string): string => `SELECT "$seq" FROM "$data" WHERE ${condition}`
  const lost = records(`${before} IS NOT NULL AND ${after} IS NULL`)
  const back = records(`${before} IS NULL AND ${after} IS NOT NULL`)
  return `
    DELETE FROM "$cell" WHERE target = ${id} AND record IN (${lost});
    UPDATE "$todo" SET state = ${MISSING} WHERE target = ${id} AND state = ${STALE} AND record IN (${lost});
    UPDATE "$todo" SET state = ${STALE} WHERE target = ${id} AND state = ${MISSING} AND record IN (${back});
    INSERT INTO "$todo" (target, record, state, mark) SELECT ${id}, "$seq", ${MISSING}, ${seq} FROM "$data"
      WHERE ${before} IS NOT NULL AND ${after} IS NULL
        AND NOT EXISTS (SELECT 1 FROM "$todo" AS todo WHERE todo.target = ${id} AND todo.record = "$seq");
    ${recountTargetSql(id)}`
}

/** Returns SQL of both engines that makes the computed cells stale that have a converted field among their inputs. */
export function convertedInputSql(
  { id }: StoredTarget,
  columns: readonly ConvertedColumns[],
  seq: number,
): string {
  const changed = columns.map(
    ({ before, after }) => `data.${before} IS NOT NULL OR data.${after} IS NOT NULL`,
  )
  return `
    INSERT INTO "$todo" (target, record, state, mark) SELECT cell.target, cell.record, ${STALE}, ${seq}
      FROM "$cell" AS cell JOIN "$data" AS data ON data."$seq" = cell.record
      WHERE cell.target = ${id} AND cell.hash IS NOT NULL AND (${changed.join(' OR ')})
        AND NOT EXISTS (SELECT 1 FROM "$todo" AS todo WHERE todo.target = cell.target AND todo.record = cell.record);
    ${recountTargetSql(id)}`
}

function recountTargetSql(id: number): string {
  const pending = (state: number): string =>
    `(SELECT count(*) FROM "$todo" WHERE target = ${id} AND state = ${state})`
  return `UPDATE "$target" SET missing = ${pending(MISSING)}, stale = ${pending(STALE)}, failed = ${pending(FAILED)},
      overridden = (SELECT count(*) FROM "$cell" WHERE target = ${id} AND hash IS NULL) WHERE id = ${id}`
}
