import { MAX_ANSWER_BYTES } from '../../query-limits.ts'

const MIB = 1024 * 1024

/**
 * A row of a user's result may be this long as PostgreSQL sends it, since it comes to the main thread in one piece. A record
 * may be as long as an answer.
 */
export const MAX_ROW_BYTES = 16 * MIB

/** What PostgreSQL may send for one request: bytes come in hexadecimal and are answered shorter. */
export const MAX_RECEIVED_BYTES = 2 * MAX_ANSWER_BYTES

/** And so many words, numbers and marks, white space among them: they are looked at on the main thread. */
export const MAX_TOKENS = 100_000

/** So many tables, CTEs and subqueries may stand in FROM and JOIN: planning takes long before it can be stopped. */
export const MAX_TABLES = 64

/** Longer names are cut off by PostgreSQL, and then mean something else than they say. */
export const MAX_NAME_BYTES = 63
