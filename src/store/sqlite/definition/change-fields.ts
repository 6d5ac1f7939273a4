import type { JsonValue } from '../../../contract/json/json.ts'
import { convertedInputSql, convertedTargetSql } from '../../definition/converted-cells.ts'
import { conversionOf } from '../../definition/field-effects.ts'
import { renamedTargets } from '../../definition/follow-names.ts'
import { storedChange, type FieldPlan } from '../../fields/field-plan.ts'
import { changeText } from '../../fields/stored-changes.ts'
import { followFields } from '../../rows/reviews.ts'
import { followWritten } from '../../rows/written-values.ts'
import { STORED_TARGETS, StoredTargets } from '../../rows/stored-targets.ts'
import { BlockedCells } from '../changes/blocked-cells.ts'
import type { Connection } from '../database/connection.ts'
import { quoted } from '../database/schema.ts'
import { fromColumn, toColumn } from '../database/values.ts'

/** The name of the function of SQL that converts values. */
const CONVERT = 'colophon_convert'

/** Fills the columns of converted fields from those that keep the values before. */
export function fillColumns(db: Connection, { converted }: FieldPlan, derived: ReadonlySet<string>): void {
  for (const field of converted) {
    const { before, after, kept, undone } = field
    const convert = conversionOf(field, derived.has(after.name))
    db.db.function(CONVERT, { deterministic: true }, (present, earlier) => {
      const value: JsonValue = undone === null ? null : fromColumn(after, earlier)
      return toColumn(convert(fromColumn(before, present), value).value)
    })
    const earlier = undone === null ? 'NULL' : quoted(undone.column)
    db.run(
      `UPDATE "$data" SET ${quoted(after.name)} = ${CONVERT}(${quoted(kept)}, ${earlier})
       WHERE ${quoted(kept)} IS NOT NULL OR ${earlier} IS NOT NULL`,
    )
  }
}

/** Lets the derived fields follow a plan, after the columns have, and stores the plan. */
export function changeFields(db: Connection, plan: FieldPlan): void {
  const { seq } = plan
  db.run('INSERT INTO "$field_change" (seq, "change") VALUES (?, ?)', seq, changeText(storedChange(plan)))
  for (const statement of [...followFields(plan), ...followWritten(plan)]) db.change(statement)
  const renamed = renamedTargets(db.query(STORED_TARGETS), plan)
  // Two fields may swap their names, each of which is that of one target.
  for (const { id } of renamed) db.run(`UPDATE "$target" SET field = '$passing_' || id WHERE id = ?`, id)
  for (const { id, field, sha256, inputs, required, nonEmpty, reads, sources } of renamed) {
    db.run(
      'UPDATE "$target" SET field = ?, sha256 = ?, inputs = ?, required = ?, non_empty = ?, reads = ?, sources = ?, changed = ? WHERE id = ?',
      field,
      sha256,
      JSON.stringify(inputs),
      required === null ? null : JSON.stringify(required),
      nonEmpty === null ? null : JSON.stringify(nonEmpty),
      reads === null ? null : JSON.stringify(reads),
      sources,
      seq,
      id,
    )
  }
  const columns = new Map(
    plan.converted.map(({ after, kept }) => [
      after.name,
      { before: quoted(kept), after: quoted(after.name) },
    ]),
  )
  if (columns.size === 0) return
  const targets = db.query(STORED_TARGETS)
  const concerned: string[] = []
  for (const target of targets) {
    const own = columns.get(target.field)
    const inputs = target.inputs.flatMap((input) => columns.get(input) ?? [])
    if (own !== undefined) db.exec(convertedTargetSql(target, own, seq))
    if (inputs.length > 0) db.exec(convertedInputSql(target, inputs, seq))
    if (own !== undefined || inputs.length > 0) concerned.push(target.field)
  }
  new BlockedCells(db, new StoredTargets(targets)).recountFrom(concerned)
}
