import type { RecordKey } from '../cell-work.ts'
import type { ReviewCounts, ReviewsQuery, StoredReview, Verdict } from '../stored-review.ts'
import type { Query, Statement } from './query.ts'
import { textOrNull } from './stored-rows.ts'

/** Types and options of the table of an engine. */
interface TableDialect {
  readonly integer: string
  readonly text: string
  readonly flag: string
  readonly options: string
}

/**
 * Creates the table of reviews, in the SQL of an engine. `seq` is that of the line of the log; `active` is whether the cell still
 * has the value that was reviewed, and no later review.
 */
export function reviewTable({ integer, text, flag, options }: TableDialect): string {
  return `
    CREATE TABLE "$review" (
      seq ${integer} PRIMARY KEY, record ${integer} NOT NULL, field ${text} NOT NULL,
      verdict ${text} NOT NULL, note ${text}, actor ${text} NOT NULL, at ${text} NOT NULL, active ${flag} NOT NULL
    ) ${options};
    CREATE INDEX "$review_of_record" ON "$review" (record, field);
    CREATE INDEX "$review_active" ON "$review" (verdict, field, record) WHERE active;
  `
}

export interface NewReview extends Pick<StoredReview, 'seq' | 'field' | 'note' | 'actor' | 'at'> {
  readonly key: RecordKey
  readonly verdict: Verdict
}

export function insertReview({ seq, key, field, verdict, note, actor, at }: NewReview): Statement {
  return {
    sql: `INSERT INTO "$review" (seq, record, field, verdict, note, actor, at, active)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, TRUE)`,
    params: [seq, key, field, verdict, note, actor, at],
  }
}

/** Ends the review of a cell, or with null those of all cells of a record. */
export function endReviews(record: RecordKey, field: string | null): Statement {
  const ofField = field === null ? '' : 'AND field = ?2'
  return {
    sql: `UPDATE "$review" SET active = FALSE WHERE active AND record = ?1 ${ofField}`,
    params: field === null ? [record] : [record, field],
  }
}

/** Fields that a change of the definition concerns, as a `FieldPlan` has them. */
export interface ChangedFields {
  readonly removed: readonly { readonly before: NamedField }[]
  readonly renamed: readonly MovedField[]
  readonly converted: readonly MovedField[]
}

interface NamedField {
  readonly name: string
}

interface MovedField {
  readonly before: NamedField
  readonly after: NamedField
}

/** Returns the statements by which reviews follow changed fields: those of converted values end, those of removed fields are deleted. */
export function followFields(changed: ChangedFields): readonly Statement[] {
  return [
    ...changed.removed.map(({ before: { name } }) => ({
      sql: 'DELETE FROM "$review" WHERE field = ?1',
      params: [name],
    })),
    ...renameFields('$review', changed),
    ...changed.converted.map(({ after }) => ({
      sql: 'UPDATE "$review" SET active = FALSE WHERE active AND field = ?1',
      params: [after.name],
    })),
  ]
}

/** Returns the statement that renames the fields in the column `field` of a table; none where no name changes. */
export function renameFields(table: string, { renamed, converted }: ChangedFields): readonly Statement[] {
  const moves = [...renamed, ...converted].filter(({ before, after }) => before.name !== after.name)
  if (moves.length === 0) return []
  // At once: two fields may swap their names.
  const cases = moves.map((_, index) => `WHEN ?${2 * index + 1} THEN ?${2 * index + 2}`).join(' ')
  return [
    {
      sql: `UPDATE "${table}" SET field = CASE field ${cases} ELSE field END`,
      params: moves.flatMap(({ before, after }) => [before.name, after.name]),
    },
  ]
}

/** Reads reviews of existing records, newest first. */
export function reviewsBefore(query: ReviewsQuery): Query<readonly StoredReview[]> {
  const { record, field, verdict, isActive, before, limit } = query
  const params: (string | number)[] = [before ?? Number.MAX_SAFE_INTEGER, limit]
  const and = (column: string, value: string | number | null): string =>
    value === null ? '' : `AND review.${column} = ?${params.push(value)}`
  return {
    sql: `SELECT review.seq, review.at, review.actor, data.id, review.field, review.verdict, review.note, review.active
      FROM "$review" AS review JOIN "$data" AS data ON data."$seq" = review.record
      WHERE review.seq < ?1 ${and('record', record)} ${and('field', field)} ${and('verdict', verdict)}
        ${isActive ? 'AND review.active' : ''}
      ORDER BY review.seq DESC LIMIT ?2`,
    params,
    result: (rows) =>
      rows.map((row) => ({
        seq: Number(row['seq']),
        at: String(row['at']),
        actor: String(row['actor']),
        recordId: String(row['id']),
        field: String(row['field']),
        verdict: row['verdict'] as Verdict,
        note: textOrNull(row['note']),
        isActive: row['active'] === true || row['active'] === 1,
      })),
  }
}

/** Counts the cells with a review in force. */
export const REVIEW_COUNTS: Query<ReviewCounts> = {
  sql: `SELECT verdict, count(*) AS cells FROM "$review" WHERE active GROUP BY verdict`,
  params: [],
  result: (rows) => {
    const of = (verdict: Verdict): number =>
      Number(rows.find((row) => row['verdict'] === verdict)?.['cells'] ?? 0)
    return { approved: of('approved'), flagged: of('flagged') }
  },
}
