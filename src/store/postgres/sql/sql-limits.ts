import { MAX_RESPONSE_BYTES } from '../../query-limits.ts'

const MIB = 1024 * 1024

/**
 * The most bytes of a result row as PostgreSQL sends it, since the main thread receives it in one piece. A record may be as
 * long as a response.
 */
export const MAX_ROW_BYTES = 16 * MIB

/**
 * The most bytes that PostgreSQL may send for one request; binary values arrive in hexadecimal, which is longer than the
 * response.
 */
export const MAX_RECEIVED_BYTES = 2 * MAX_RESPONSE_BYTES

/** The most tokens of a text, white space included: they are checked on the main thread. */
export const MAX_TOKENS = 100_000

/** The most tables, CTEs and subqueries in FROM and JOIN: planning takes long before it can be stopped. */
export const MAX_TABLES = 64

/** PostgreSQL truncates longer names, which then name something else. */
export const MAX_NAME_BYTES = 63
