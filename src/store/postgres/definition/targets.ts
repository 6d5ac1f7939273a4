import type { TargetDefinition } from '../../sheet-store.ts'
import { hasOtherName } from '../../definition/follow-names.ts'
import { canBeBlocked, recountSql } from '../../rows/blocked-sql.ts'
import {
  firstVersions,
  isSameTarget,
  keepsStates,
  nextVersions,
  STORED_TARGETS,
  StoredTargets,
  type StoredTarget,
} from '../../rows/stored-targets.ts'
import type { Connection } from '../database/connection.ts'
import { readTime } from '../database/database-clock.ts'
import { quoted } from '../database/schema.ts'
import { MISSING, STALE } from '../../rows/stored-rows.ts'

/** Returns the column of a field; null where it has none yet. */
export type ColumnOf = (field: string) => string | null

/** Reads the derived fields of the store. */
export function loadTargets(db: Connection): Promise<readonly StoredTarget[]> {
  return db.query(STORED_TARGETS)
}

/**
 * Adapts the cell states to the derivations. The cells of a new target are missing, or overridden where the field has a
 * value; a changed file makes computed cells stale. A target whose derivation is removed keeps its states, which
 * follow writes meanwhile, and hold if the same file returns. Stores every version of the files. `column` returns the column
 * of a field; null where it has none yet, and so no values. Call it in a transaction. Returns whether anything has changed.
 */
export async function applyTargets(
  db: Connection,
  definitions: readonly TargetDefinition[],
  column: ColumnOf = (field) => field,
): Promise<boolean> {
  const known = new Map((await loadTargets(db)).map((target) => [target.field, target]))
  await keepVersions(db, definitions)
  let nextId = Math.max(0, ...[...known.values()].map(({ id }) => id)) + 1
  const changed: string[] = []
  for (const definition of definitions) {
    const target = known.get(definition.field)
    known.delete(definition.field)
    if (target === undefined) {
      await addTarget(db, nextId, { ...definition, column: column(definition.field) })
      nextId += 1
      changed.push(definition.field)
    } else if (!isSameTarget(target, definition)) {
      await updateTarget(db, target, definition)
      changed.push(definition.field)
    }
  }
  const idle = [...known.values()].filter(({ active }) => active)
  if (idle.length > 0) {
    await db.run(
      'UPDATE "$target" SET active = false WHERE id = ANY($1)',
      idle.map(({ id }) => id),
    )
    changed.push(...idle.map(({ field }) => field))
  }
  if (changed.length > 0) await recountBlocked(db, changed, column)
  return changed.length > 0
}

/** Determines which cells of these derived fields, and of those computed from them, are blocked (D32). */
export async function recountBlocked(
  db: Connection,
  fields: readonly string[],
  column: ColumnOf,
): Promise<void> {
  const targets = new StoredTargets(await loadTargets(db))
  const rows = await db.all('SELECT id FROM "$target" WHERE blocked > 0')
  const counted = new Set(rows.map((row) => Number(row['id'])))
  for (const target of targets.downstream(fields)) {
    if (!counted.has(target.id) && !canBeBlocked(target, targets)) continue
    await db.exec(recountSql(target, targets, column))
  }
}

/** Stores the texts of derivation files, so that changes can be explained; skips known texts. */
async function keepVersions(db: Connection, definitions: readonly TargetDefinition[]): Promise<void> {
  if (definitions.length === 0) return
  await db.run(
    `INSERT INTO "$derivation" (file, sha256, text, at)
     SELECT DISTINCT ON (file, sha256) file, sha256, text, $1
     FROM unnest($2::text[], $3::text[], $4::text[]) WITH ORDINALITY AS new(file, sha256, text, place)
     WHERE NOT EXISTS (SELECT FROM "$derivation" AS old WHERE old.file = new.file AND old.sha256 = new.sha256)
     ORDER BY file, sha256, place`,
    await readTime(db),
    definitions.map(({ derivation }) => derivation),
    definitions.map(({ sha256 }) => sha256),
    definitions.map(({ text }) => text),
  )
}

async function addTarget(
  db: Connection,
  id: number,
  definition: TargetDefinition & { readonly column: string | null },
): Promise<void> {
  const { field, derivation, sha256, kind, inputs, required, nonEmpty } = definition
  const { sources, checked, reads } = firstVersions(definition)
  const column = definition.column === null ? 'NULL' : quoted(definition.column)
  const overridden = await db.run(
    `INSERT INTO "$cell" (target, record, hash, mark) SELECT $1, "$seq", NULL, "$version" FROM "$data" WHERE ${column} IS NOT NULL`,
    id,
  )
  const missing = await db.run(
    `INSERT INTO "$todo" (target, record, state, mark) SELECT $1, "$seq", ${MISSING}, "$version" FROM "$data" WHERE ${column} IS NULL`,
    id,
  )
  await db.run(
    `INSERT INTO "$target"
       (id, field, derivation, sha256, kind, inputs, required, non_empty, sources, checked_sources, reads, active, overridden, missing, changed)
     VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7::jsonb, $8::jsonb, $9, $10, $11::jsonb, true, $12, $13,
       (SELECT coalesce(max(seq), 0) FROM "$field_change"))`,
    id,
    field,
    derivation,
    sha256,
    kind,
    JSON.stringify(inputs),
    JSON.stringify(required),
    JSON.stringify(nonEmpty),
    sources,
    checked,
    reads,
    overridden,
    missing,
  )
}

async function updateTarget(
  db: Connection,
  target: StoredTarget,
  definition: TargetDefinition,
): Promise<void> {
  const { derivation, sha256, kind, inputs, required, nonEmpty } = definition
  const { reads, sources } = nextVersions(definition)
  await db.run(
    `UPDATE "$target" SET derivation = $1, sha256 = $2, kind = $3, inputs = $4::jsonb, required = $5::jsonb, non_empty = $6::jsonb,
       sources = $7, reads = $8::jsonb, active = true
     WHERE id = $9`,
    derivation,
    sha256,
    kind,
    JSON.stringify(inputs),
    JSON.stringify(required),
    JSON.stringify(nonEmpty),
    sources,
    reads,
    target.id,
  )
  if (keepsStates(target, definition)) return
  if (hasOtherName(target)) {
    await db.run(
      `UPDATE "$cell" SET hash = decode(repeat('00', 32), 'hex') WHERE target = $1 AND hash IS NOT NULL`,
      target.id,
    )
    await db.run('UPDATE "$failure" SET hash = NULL WHERE target = $1', target.id)
  }
  // Version 0 keeps that of the cell: a computation under way used the old file, but no write happened (D28).
  const stale = await db.run(
    `INSERT INTO "$todo" (target, record, state, mark) SELECT target, record, ${STALE}, 0 FROM "$cell"
     WHERE target = $1 AND hash IS NOT NULL ON CONFLICT (target, record) DO NOTHING`,
    target.id,
  )
  await db.run(
    'UPDATE "$target" SET stale = stale + $1, checked_sources = sources WHERE id = $2',
    stale,
    target.id,
  )
}
