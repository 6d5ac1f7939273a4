import type { Campaign } from '../campaign.ts'
import { testRounds } from '../support/test-rounds.ts'

/** Statements and filters of a test. */
const CASES = 20_000

/** Statements and filters that try to read or to write what is not theirs. */
export const hostileSql: Campaign = {
  name: 'hostile-sql',
  attack: 'Hostile SQL and filters',
  claim:
    'On SQLite, each is answered from the records alone, or refused with a message that tells nothing of other tables; nothing is written, no crash. On PostgreSQL, what passes the checks reads only the records, by allowed functions, as the server itself has understood it.',
  engines: ['sqlite', 'postgres'],
  goal: { 'statements and filters': 100_000 },
  start: testRounds({
    files: {
      sqlite: 'test/fuzz/sql-fuzz.test.ts',
      postgres: 'src/store/postgres/sql/sql-guard.test.ts',
    },
    cases: CASES,
    unit: 'statements and filters',
  }),
}
