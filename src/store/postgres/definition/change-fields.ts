import type { JsonValue } from '../../../contract/json/json.ts'
import { convertedInputSql, convertedTargetSql } from '../../definition/converted-cells.ts'
import { conversionOf } from '../../definition/field-effects.ts'
import { renamedTargets } from '../../definition/follow-names.ts'
import { columnMoves } from '../../fields/column-moves.ts'
import { storedChange, type FieldPlan } from '../../fields/field-plan.ts'
import { changeText } from '../../fields/stored-changes.ts'
import { STORED_TARGETS } from '../../rows/stored-targets.ts'
import type { Connection, StoredRow } from '../database/connection.ts'
import { columnType, quoted } from '../database/schema.ts'
import { fieldValue, mayDiffer, toColumnText, writtenOf } from '../database/values.ts'
import { fillColumn, isColumn, addFillColumn } from './prepare-columns.ts'
import { recountBlocked, type ColumnOf } from './targets.ts'

/** Records whose values are converted at once. */
const RECORDS_AT_ONCE = 2000

/** Returns the renames of filled columns to those of converted fields, after those of `columnMoves`. */
export function filledMoves({ converted }: FieldPlan): readonly (readonly [from: string, to: string])[] {
  return converted.map(({ after }, index) => [fillColumn(index, after.type), after.name])
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
  if (plan.converted.length === 0) await renameWritten(db, plan)
  else await convertValues(db, plan, derived)
  await renameTargets(db, plan)
  await changeCells(db, plan, column)
}

/** Renames the fields in the values that columns do not preserve exactly, which only fields of some types have. */
async function renameWritten(db: Connection, plan: FieldPlan): Promise<void> {
  const moved = [
    ...[...plan.renamed, ...plan.removed].map(({ before }) => before),
    ...plan.restored.map(({ after }) => after),
  ]
  if (!moved.some(({ type }) => mayDiffer(type))) return
  const names = writtenNames(plan)
  await db.run(
    `UPDATE "$data" SET "$written" = (
       SELECT json_object_agg(coalesce(moved.after, member.key), member.value) FROM json_each("$written") AS member
       LEFT JOIN unnest($1::text[], $2::text[]) AS moved(before, after) ON moved.before = member.key)
     WHERE EXISTS (SELECT FROM json_object_keys("$written") AS key WHERE key = ANY($1))`,
    [...names.keys()],
    [...names.values()],
  )
}

/** Returns the names in `$written` after a plan, by those before. */
function writtenNames(plan: FieldPlan): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const [from, to] of columnMoves(plan)) {
    const origin = [...names].find(([, name]) => name === from)?.[0] ?? from
    names.set(origin, to)
  }
  return names
}

/** Fills the columns of converted fields, and renames the fields in the values that columns do not preserve exactly. */
async function convertValues(db: Connection, plan: FieldPlan, derived: ReadonlySet<string>): Promise<void> {
  const names = writtenNames(plan)
  const conversions = plan.converted.map((field, index) => ({
    ...field,
    fill: fillColumn(index, field.after.type),
    convert: conversionOf(field, derived.has(field.after.name)),
  }))
  for (const { fill, after } of conversions)
    if (!(await isColumn(db, fill))) await db.exec(addFillColumn(fill, after.type))
  const read = conversions.flatMap(({ before, undone }) => [
    before.name,
    ...(undone === null ? [] : [undone.column]),
  ])
  const columns = [...new Set(['"$seq"', '"$written"', ...read.map(quoted)])]
  const set = conversions.map(
    ({ fill }, index) =>
      `${quoted(fill)} = new."$${index}"::${columnType(conversions[index]?.after ?? { type: 'string' })}`,
  )
  const arrays = conversions.map((_, index) => `$${index + 3}::text[]`)
  const aliases = conversions.map((_, index) => `"$${index}"`)
  const update = `UPDATE "$data" AS data SET "$written" = new.written::json, ${set.join(', ')}
    FROM unnest($1::bigint[], $2::text[], ${arrays.join(', ')}) AS new(key, written, ${aliases.join(', ')})
    WHERE data."$seq" = new.key`
  const select = `SELECT ${columns.join(', ')} FROM "$data" WHERE "$seq" > $1 ORDER BY "$seq" LIMIT $2`
  for (let from = 0; ;) {
    const rows = await db.all(select, from, RECORDS_AT_ONCE)
    const keys: number[] = []
    const written: (string | null)[] = []
    const values: (string | null)[][] = conversions.map(() => [])
    for (const row of rows) {
      const converted = conversions.map(({ before, after, undone, convert }) => {
        const earlier = undone === null ? null : fieldValue({ name: undone.column, type: after.type }, row)
        return { after, value: convert(fieldValue(before, row), earlier).value }
      })
      const texts = writtenAfter(row, names, converted)
      if (texts === undefined && converted.every(({ value }) => value === null)) continue
      keys.push(Number(row['$seq']))
      written.push(texts ?? null)
      for (const [index, { after, value }] of converted.entries())
        values[index]?.push(toColumnText(after, value))
    }
    if (keys.length > 0) await db.run(update, keys, written, ...values)
    if (rows.length < RECORDS_AT_ONCE) return
    from = Number(rows.at(-1)?.['$seq'])
  }
}

/** Returns `$written` of a row after a plan; undefined where there is none before and after. */
function writtenAfter(
  row: StoredRow,
  names: ReadonlyMap<string, string>,
  converted: readonly {
    readonly after: { readonly name: string; readonly type: FieldPlan['converted'][number]['after']['type'] }
    readonly value: JsonValue
  }[],
): string | undefined {
  const before =
    typeof row['$written'] === 'string' ? (JSON.parse(row['$written']) as Record<string, JsonValue>) : {}
  const after = Object.entries(before).map(([name, value]) => [names.get(name) ?? name, value] as const)
  for (const { after: field, value } of converted) {
    const text = writtenOf([field], () => value)
    if (text !== null) after.push([field.name, value])
  }
  return after.length === 0 ? undefined : JSON.stringify(Object.fromEntries(after))
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
