import type { RecordKey } from '../cell-work.ts'
import type { Query, Statement } from './query.ts'
import type { ChangedFields } from './reviews.ts'
import { renameFields } from './reviews.ts'
import type { WriterCounts } from '../stored-writer.ts'
import { textOrNull } from './stored-rows.ts'

/** The fields of a row of `$written`: an integer of both engines and of JavaScript has more bits. */
export const FIELDS_OF_PART = 48

/** Types and options of the tables of an engine. */
interface TableDialect {
  readonly integer: string
  readonly text: string
  readonly options: string
}

/**
 * Creates the tables of the writers of present values, in the SQL of an engine.
 *
 * - `$writer`: an actor, in a run or not, of whom values are in force; `run` is 0 for none. `cells` counts these values, `parts` the
 *   rows of `$written`.
 * - `$written`: the fields of a record whose present values a writer has written, as the bits of `fields`; bit 0 of part 1 is the
 *   field 48. A row has at least one. Values of `records.jsonl` have no writer. An index by writer would cost each write more than it
 *   saves the filters, which read all rows: 0.1 s for a million.
 * - `$written_field`: the numbers of fields, which follow renamed ones; a removed field has no name. A field has one before its first
 *   value has a writer.
 */
export function writtenTables({ integer, text, options }: TableDialect): string {
  const table = options === '' ? '' : `${options}, WITHOUT ROWID`
  return `
    CREATE TABLE "$writer" (
      id ${integer} PRIMARY KEY, actor ${text} NOT NULL, run ${integer} NOT NULL, cells ${integer} NOT NULL, parts ${integer} NOT NULL,
      UNIQUE (actor, run)
    ) ${options};
    CREATE TABLE "$written_field" (number ${integer} PRIMARY KEY, field ${text}) ${options};
    CREATE TABLE "$written" (
      record ${integer} NOT NULL, part ${integer} NOT NULL, writer ${integer} NOT NULL, fields ${integer} NOT NULL,
      PRIMARY KEY (record, part, writer)
    ) ${table};
  `
}

/**
 * Returns SQL that finds the writers of the computed values of an existing store: the runs of the log lines that its cells name.
 * Other values of such a store have a writer once they are written again.
 */
export function writersOfCells(bit: (number: string) => string): string {
  return `
    INSERT INTO "$written_field" (number, field) SELECT id, field FROM "$target";
    INSERT INTO "$writer" (id, actor, run, cells, parts) SELECT id, actor, id, 0, 0 FROM "$run";
    INSERT INTO "$written" (record, part, writer, fields)
      SELECT cell.record, cell.target / ${FIELDS_OF_PART}, line.run, sum(${bit(`cell.target % ${FIELDS_OF_PART}`)})
      FROM "$cell" AS cell JOIN "$provenance" AS line ON line.seq = cell.mark JOIN "$run" AS run ON run.id = line.run
      WHERE cell.hash IS NOT NULL GROUP BY 1, 2, 3;
    UPDATE "$writer" SET parts = (SELECT count(*) FROM "$written" AS written WHERE written.writer = "$writer".id);
    UPDATE "$writer" SET cells = (
      SELECT count(*) FROM "$cell" AS cell JOIN "$provenance" AS line ON line.seq = cell.mark
      WHERE cell.hash IS NOT NULL AND line.run = "$writer".id) WHERE parts > 0;
    DELETE FROM "$writer" WHERE parts = 0;
  `
}

/** A writer of whom values are in force. */
export interface StoredWriter {
  readonly id: number
  readonly actor: string
  /** The number of the run that wrote them; null for direct writes. */
  readonly run: number | null
  readonly cells: number
  readonly parts: number
}

export const WRITERS: Query<readonly StoredWriter[]> = {
  sql: 'SELECT id, actor, run, cells, parts FROM "$writer" ORDER BY id',
  params: [],
  result: (rows) =>
    rows.map((row) => ({
      id: Number(row['id']),
      actor: String(row['actor']),
      run: runOrNull(row['run']),
      cells: Number(row['cells']),
      parts: Number(row['parts']),
    })),
}

/** Returns the number of a run from its column, which is 0 for none. */
export function runOrNull(stored: unknown): number | null {
  const run = Number(stored)
  return run === 0 ? null : run
}

/** Actors that are returned with the number of their cells. */
const MOST_ACTORS = 1000

export const WRITING_ACTORS: Query<WriterCounts['actors']> = {
  sql: `SELECT actor, sum(cells) AS cells FROM "$writer" WHERE cells > 0 GROUP BY actor
    ORDER BY 2 DESC, 1 LIMIT ${MOST_ACTORS}`,
  params: [],
  result: (rows) => rows.map((row) => ({ actor: String(row['actor']), cells: Number(row['cells']) })),
}

export const LATEST_RUN: Query<WriterCounts['latestRun']> = {
  sql: 'SELECT run, actor, cells FROM "$writer" WHERE run > 0 AND cells > 0 ORDER BY run DESC LIMIT 1',
  params: [],
  result: ([row]) =>
    row === undefined
      ? null
      : { run: String(row['run']), actor: String(row['actor']), cells: Number(row['cells']) },
}

/** The number of a field; the name of a removed field is null. */
export interface NumberedField {
  readonly number: number
  readonly field: string | null
}

export const NUMBERED_FIELDS: Query<readonly NumberedField[]> = {
  sql: 'SELECT number, field FROM "$written_field" ORDER BY number',
  params: [],
  result: (rows) => rows.map((row) => ({ number: Number(row['number']), field: textOrNull(row['field']) })),
}

/** The fields of a record whose present values a writer has written. */
export interface WrittenRow {
  readonly record: RecordKey
  readonly part: number
  readonly actor: string
  /** The number of the run that wrote them; null for direct writes. */
  readonly run: number | null
  readonly fields: number
}

/** Returns rows of integers as a table, in the SQL of an engine, with its parameters: the only ones of their statement. */
export type GivenRows = (rows: readonly (readonly number[])[]) => Statement

/** The most rows that are given at once: a statement of each number is kept. */
export const GIVEN_AT_ONCE = 64

/** Reads the rows of at least one record. */
export function writtenRows(records: readonly RecordKey[], given: GivenRows): Query<readonly WrittenRow[]> {
  const { sql, params } = given(records.map((record) => [record]))
  return {
    sql: `SELECT written.record, written.part, written.fields, writer.actor, writer.run
      FROM ${sql} AS given JOIN "$written" AS written ON written.record = given.column1
        JOIN "$writer" AS writer ON writer.id = written.writer`,
    params,
    result: (rows) =>
      rows.map((row) => ({
        record: Number(row['record']),
        part: Number(row['part']),
        fields: Number(row['fields']),
        actor: String(row['actor']),
        run: runOrNull(row['run']),
      })),
  }
}

/** Whether a row has a field, by its number within the part. */
export function hasField(fields: number, bit: number): boolean {
  return Math.floor(fields / 2 ** bit) % 2 === 1
}

/** Returns the statements by which the numbers of fields follow changed ones. */
export function followWritten(changed: ChangedFields): readonly Statement[] {
  return [
    ...changed.removed.map(({ before: { name } }) => ({
      sql: 'UPDATE "$written_field" SET field = NULL WHERE field = ?1',
      params: [name],
    })),
    ...renameFields('$written_field', changed),
  ]
}
