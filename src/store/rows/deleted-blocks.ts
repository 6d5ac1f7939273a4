/**
 * Counts of deleted records, to find the record at a position without walking over those before it.
 *
 * Keys are assigned one after the other, so the keys of deleted records are all that is missing between those of records.
 * `$deleted_block` counts them by blocks of keys: a block of level 1 has {@link BLOCK} keys, one of level 2 as many blocks
 * of level 1, and so on. To find a position, one block of each level is looked up, and of the last one its keys: at most
 * {@link BLOCK} rows for each level, however many were deleted.
 */

/** Binary digits of the number of keys in a block of level 1, and of blocks in one of the level above. */
const BITS = 10

/** Keys in a block of level 1, and blocks in one of the level above. */
export const BLOCK: number = 1 << BITS

/** The highest level, whose blocks have 2^30 keys. */
export const LEVELS = 3

const COLUMNS = '(level, block, deleted)'
const ADD = 'ON CONFLICT (level, block) DO UPDATE SET deleted = "$deleted_block".deleted + excluded.deleted'

/** Returns an expression for the number of the block of a level that contains a key. */
function blockOf(key: string, level: number): string {
  return `(${key} >> ${BITS * level})`
}

/** Creates the table and counts what has been deleted so far; `integer` is the engine's type for keys. */
export function deletedBlocksTable(integer: string, options: string): string {
  const counts = Array.from(
    { length: LEVELS },
    (_, index) =>
      `SELECT ${index + 1}, ${blockOf('record', index + 1)}, count(*) FROM "$deleted" GROUP BY ${blockOf('record', index + 1)}`,
  )
  return `CREATE TABLE "$deleted_block" (
    level integer NOT NULL, block ${integer} NOT NULL, deleted ${integer} NOT NULL, PRIMARY KEY (level, block)
  ) ${options};
  INSERT INTO "$deleted_block" ${COLUMNS} ${counts.join(' UNION ALL ')};`
}

/** Counts one deleted record; `key` is the parameter that has its key. */
export function countDeleted(key: string): string {
  const rows = Array.from({ length: LEVELS }, (_, index) => `(${index + 1}, ${blockOf(key, index + 1)}, 1)`)
  return `INSERT INTO "$deleted_block" ${COLUMNS} VALUES ${rows.join(', ')} ${ADD}`
}

/** Counts deleted records; `keys` is a table of one column `key`. */
export function countAllDeleted(keys: string): string {
  const rows = Array.from(
    { length: LEVELS },
    (_, index) =>
      `SELECT ${index + 1}, ${blockOf('key', index + 1)}, count(*) FROM ${keys} GROUP BY ${blockOf('key', index + 1)}`,
  )
  return `INSERT INTO "$deleted_block" ${COLUMNS} ${rows.join(' UNION ALL ')} ${ADD}`
}

/**
 * Returns SQL for the `key` after which a page starts that skips some records: no record is between it and the last skipped
 * one. `from` is the parameter with the key after which records are skipped, `skip` the one with their number.
 */
export function keyAtPosition(from: string, skip: string): string {
  // Where all blocks of a level begin after the place, as many were deleted before it as before the block above.
  const above = Array.from({ length: LEVELS - 1 }, (_, index) => `(SELECT before FROM blocks${index + 2})`)
  return `WITH wanted AS MATERIALIZED (SELECT ${from} + ${skip} - (${deletedUpTo(from)}) AS place), ${lastBlocks()}
    SELECT place + coalesce((
      SELECT before + (
        SELECT count(*) FROM (
          SELECT record - row_number() OVER (ORDER BY record) AS present FROM "$deleted"
          WHERE record >= block << ${BITS} AND record < (block + 1) << ${BITS}
        ) AS gone WHERE present - before < place
      ) FROM blocks1
    ), ${above.join(', ')}, 0) AS key FROM wanted`
}

/** Returns an expression for the number of deleted keys up to one. */
function deletedUpTo(key: string): string {
  const whole = Array.from({ length: LEVELS }, (_, index) => {
    const level = index + 1
    const ofParent = level === LEVELS ? '' : `block >= ${blockOf(key, level + 1)} << ${BITS} AND`
    return `(SELECT coalesce(sum(deleted), 0) FROM "$deleted_block" WHERE level = ${level} AND ${ofParent} block < ${blockOf(key, level)})`
  })
  const rest = `(SELECT count(*) FROM "$deleted" WHERE record >= ${blockOf(key, 1)} << ${BITS} AND record <= ${key})`
  return `SELECT CAST(${[...whole, rest].join(' + ')} AS bigint)`
}

/**
 * Returns CTEs for each level, from the highest down: the last block of deleted records that begins before the place,
 * within the one of the level above; `before` is the number of records that were deleted before the block.
 */
function lastBlocks(): string {
  return Array.from({ length: LEVELS }, (_, index) => {
    const level = LEVELS - index
    const above = level === LEVELS ? null : `blocks${level + 1}`
    const start = above === null ? '0' : `${above}.before`
    const join =
      above === null
        ? ''
        : `JOIN ${above} ON counted.block >= ${above}.block << ${BITS} AND counted.block < (${above}.block + 1) << ${BITS}`
    return `blocks${level} AS (
      SELECT block, before FROM wanted CROSS JOIN (
        SELECT counted.block, ${start} + CAST(sum(counted.deleted) OVER (ORDER BY counted.block) AS bigint) - counted.deleted AS before
        FROM "$deleted_block" AS counted ${join} WHERE counted.level = ${level}
      ) AS running WHERE (block << ${BITS * level}) - 1 - before < place ORDER BY block DESC LIMIT 1)`
  }).join(', ')
}
