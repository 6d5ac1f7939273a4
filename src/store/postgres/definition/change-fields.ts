import { convertedInputSql, convertedTargetSql } from '../../definition/converted-cells.ts'
import { conversionOf } from '../../definition/field-effects.ts'
import { renamedTargets } from '../../definition/follow-names.ts'
import type { ColumnMove } from '../../fields/column-moves.ts'
import { storedChange, type FieldPlan } from '../../fields/field-plan.ts'
import { changeText } from '../../fields/stored-changes.ts'
import { followFields } from '../../rows/reviews.ts'
import { followWritten } from '../../rows/written-values.ts'
import { STORED_TARGETS } from '../../rows/stored-targets.ts'
import type { Connection } from '../database/connection.ts'
import { columnType, quoted } from '../database/schema.ts'
import { columnsOf } from '../database/columns.ts'
import { fieldValue, toColumnTexts } from '../database/values.ts'
import { fillColumn, isColumn, addFillColumn } from './prepare-columns.ts'
import { recountBlocked, type ColumnOf } from './targets.ts'

/** Records whose values are converted at once. */
const RECORDS_AT_ONCE = 2000

/** Returns the renames of filled columns to those of converted fields, after those of `columnMoves`. */
export function filledMoves({ converted }: FieldPlan): readonly ColumnMove[] {
  return converted.map(({ after: { name, type } }, index) => ({
    from: fillColumn(index, type),
    to: name,
    type,
  }))
}

/**
 * Lets values and derived fields follow a plan, before the columns of the records do, and stores the plan. Readers of the
 * records continue.
 */
export async function changeFields(
  db: Connection,
  plan: FieldPlan,
  { derived, column }: { readonly derived: ReadonlySet<string>; readonly column: ColumnOf },
): Promise<void> {
  const { seq } = plan
  await db.run(
    'INSERT INTO "$field_change" (seq, "change") VALUES ($1, $2)',
    seq,
    changeText(storedChange(plan)),
  )
  for (const statement of [...followFields(plan), ...followWritten(plan)]) await db.change(statement)
  if (plan.converted.length > 0) await convertValues(db, plan, derived)
  await renameTargets(db, plan)
  await changeCells(db, plan, column)
}

/** Fills the columns of converted fields. */
async function convertValues(db: Connection, plan: FieldPlan, derived: ReadonlySet<string>): Promise<void> {
  const conversions = plan.converted.map((field, index) => ({
    ...field,
    fill: { name: fillColumn(index, field.after.type), type: field.after.type },
    convert: conversionOf(field, derived.has(field.after.name)),
  }))
  for (const { fill } of conversions)
    if (!(await isColumn(db, fill.name))) await db.exec(addFillColumn(fill.name, fill.type))
  const read = conversions.flatMap(({ before, after, undone }) => [
    before,
    ...(undone === null ? [] : [{ name: undone.column, type: after.type }]),
  ])
  const columns = [...new Set(['$seq', ...columnsOf(read)])].map(quoted).join(', ')
  const filled = conversions.flatMap(({ fill }) =>
    columnsOf([fill]).map((name, index) => ({ name, type: index === 0 ? columnType(fill) : 'json' })),
  )
  const set = filled.map(({ name, type }, index) => `${quoted(name)} = new."$${index}"::${type}`)
  const arrays = filled.map((_, index) => `$${index + 2}::text[]`)
  const aliases = filled.map((_, index) => `"$${index}"`)
  const update = `UPDATE "$data" AS data SET ${set.join(', ')}
    FROM unnest($1::bigint[], ${arrays.join(', ')}) AS new(key, ${aliases.join(', ')})
    WHERE data."$seq" = new.key`
  const select = `SELECT ${columns} FROM "$data" WHERE "$seq" > $1 ORDER BY "$seq" LIMIT $2`
  for (let from = 0; ;) {
    const rows = await db.all(select, from, RECORDS_AT_ONCE)
    const keys: number[] = []
    const values: (string | null)[][] = filled.map(() => [])
    for (const row of rows) {
      const texts = conversions.flatMap(({ before, undone, fill, convert }) => {
        const earlier = undone === null ? null : fieldValue({ ...fill, name: undone.column }, row)
        return toColumnTexts(fill, convert(fieldValue(before, row), earlier).value)
      })
      if (texts.every((text) => text === null)) continue
      keys.push(Number(row['$seq']))
      for (const [index, text] of texts.entries()) values[index]?.push(text)
    }
    if (keys.length > 0) await db.run(update, keys, ...values)
    if (rows.length < RECORDS_AT_ONCE) return
    from = Number(rows.at(-1)?.['$seq'])
  }
}

async function renameTargets(db: Connection, plan: FieldPlan): Promise<void> {
  const renamed = renamedTargets(await db.query(STORED_TARGETS), plan)
  if (renamed.length === 0) return
  const ids = renamed.map(({ id }) => id)
  // Two fields may swap their names, each of which is that of one target.
  await db.run(`UPDATE "$target" SET field = '$passing_' || id WHERE id = ANY($1)`, ids)
  await db.run(
    `UPDATE "$target" AS target SET field = new.field, sha256 = new.sha256, inputs = new.inputs::jsonb, required = new.required::jsonb,
       non_empty = new.non_empty::jsonb, reads = new.reads::jsonb, sources = new.sources, changed = $9
     FROM unnest($1::integer[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
       AS new(id, field, sha256, inputs, required, non_empty, reads, sources)
     WHERE target.id = new.id`,
    ids,
    renamed.map(({ field }) => field),
    renamed.map(({ sha256 }) => sha256),
    renamed.map(({ inputs }) => JSON.stringify(inputs)),
    renamed.map(({ required }) => (required === null ? null : JSON.stringify(required))),
    renamed.map(({ nonEmpty }) => (nonEmpty === null ? null : JSON.stringify(nonEmpty))),
    renamed.map(({ reads }) => (reads === null ? null : JSON.stringify(reads))),
    renamed.map(({ sources }) => sources),
    plan.seq,
  )
}

/** Lets the states of cells follow converted values. */
async function changeCells(db: Connection, plan: FieldPlan, column: ColumnOf): Promise<void> {
  const columns = new Map(
    plan.converted.map(({ before, after }, index) => [
      after.name,
      { before: quoted(before.name), after: quoted(fillColumn(index, after.type)) },
    ]),
  )
  if (columns.size === 0) return
  const concerned: string[] = []
  for (const target of await db.query(STORED_TARGETS)) {
    const own = columns.get(target.field)
    const inputs = target.inputs.flatMap((input) => columns.get(input) ?? [])
    if (own !== undefined) await db.exec(convertedTargetSql(target, own, plan.seq))
    if (inputs.length > 0) await db.exec(convertedInputSql(target, inputs, plan.seq))
    if (own !== undefined || inputs.length > 0) concerned.push(target.field)
  }
  await recountBlocked(db, concerned, column)
}
